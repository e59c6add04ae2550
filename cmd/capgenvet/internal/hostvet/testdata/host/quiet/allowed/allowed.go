package allowed

import "os"

var a = os.Getenv("A") //capgenvet:allow quietinit names no secret

//capgenvet:allow quietinit names no secret
var b = read()

func read() string { return os.Getenv("B") }

var c = 1 //capgenvet:allow quietinit it is a number // want `nothing on this line needs to be allowed`

//capgenvet:allow quietinit two lines above // want `nothing on this line needs to be allowed`

var d = os.Getenv("D") // want `os.Getenv`
