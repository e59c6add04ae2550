package main

import (
	"os"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

func main() { // want `first statement of main must be`
	defer runtime.ServeWorkerAndExit()
	os.Exit(host.Main(host.Options{}))
}
