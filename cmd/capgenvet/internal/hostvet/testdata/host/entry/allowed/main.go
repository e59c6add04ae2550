package main

import (
	"os"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

//capgenvet:allow workerentry the profile of a worker is wanted too
func main() {
	profile()
	runtime.ServeWorkerAndExit()
	os.Exit(host.Main(host.Options{}))
}

func profile() {}

func other() {} //capgenvet:allow workerentry nothing to say // want `nothing on this line needs to be allowed`
