package main

import (
	"os"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

func main() {
	// A comment is no statement.
	runtime.ServeWorkerAndExit()
	os.Exit(host.Main(host.Options{}))
}
