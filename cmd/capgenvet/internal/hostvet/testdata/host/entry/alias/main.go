package main

import (
	"os"

	capgen "github.com/capgen/capgen/runtime"
	. "github.com/capgen/capgen/runtime/host"
	"github.com/capgen/capgen/runtime/worker"
)

type builder = capgen.Builder

func main() {
	(worker.ServeWorkerAndExit())
	var b builder
	if b.Build() != nil {
		os.Exit(1)
	}
	os.Exit(Main(Options{}))
}
