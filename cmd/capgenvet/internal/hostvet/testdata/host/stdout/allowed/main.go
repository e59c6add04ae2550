package main

import (
	"fmt"
	"os"

	"example.com/dep"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

func main() {
	runtime.ServeWorkerAndExit()
	if len(os.Args) > 1 {
		fmt.Println("x") //capgenvet:allow stdout the answer of a command that serves nothing
		//capgenvet:allow stdout the same
		dep.Chatter()
	}
	helper()    //capgenvet:allow stdout the same
	dep.Quiet() //capgenvet:allow stdout it once did // want `nothing on this line needs to be allowed`
	os.Exit(host.Main(host.Options{}))
}

func helper() { fmt.Println("x") }
