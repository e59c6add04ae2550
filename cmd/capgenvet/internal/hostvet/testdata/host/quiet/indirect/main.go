package main

import (
	"os"

	_ "example.com/dep/inner"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

func main() { // want `^example.com/dep/env reaches os.Getenv`
	runtime.ServeWorkerAndExit()
	os.Exit(host.Main(host.Options{}))
}
