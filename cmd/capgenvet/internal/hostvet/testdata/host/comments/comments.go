package comments // want package:`init example.com/host/comments: os.Getenv .comments.go:5.`

import "os"

var a = os.Getenv("A") //capgenvet:allow quietinit // want `needs a name and a reason`

var b = os.Getenv("B") //capgenvet:allow noisyinit because // want `there is no rule noisyinit`

var c = os.Getenv("C") //capgenvet:deny quietinit because // want `unknown comment of capgenvet`

var d = os.Getenv("D") //capgenvet: allow quietinit because // want `unknown comment of capgenvet`

//capgenvet:dependency example.com/x // want `needs a name and a reason`

// Comments about //capgenvet:allow are none.
var e = 0
