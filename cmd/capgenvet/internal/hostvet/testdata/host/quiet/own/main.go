package main

import (
	"os"

	_ "example.com/host/quiet/fires"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

func main() {
	runtime.ServeWorkerAndExit()
	os.Exit(host.Main(host.Options{}))
}
