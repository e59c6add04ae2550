package main

import (
	"os"

	_ "example.com/dep/inner"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

//capgenvet:dependency example.com/dep/env the token is of tests
//capgenvet:dependency example.com/dep/gone it is no more // want `nothing on this line needs to be allowed`

func main() {
	runtime.ServeWorkerAndExit()
	os.Exit(host.Main(host.Options{}))
}
