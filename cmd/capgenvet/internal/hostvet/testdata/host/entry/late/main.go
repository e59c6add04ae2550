package main

import (
	"flag"
	"os"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

func main() { // want `first statement of main must be runtime.ServeWorkerAndExit`
	flag.Parse()
	runtime.ServeWorkerAndExit()
	os.Exit(host.Main(host.Options{}))
}
