package main

import (
	"os"

	_ "example.com/dep/calm"
	_ "example.com/dep/env"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

func main() { // want `^example.com/dep/env reaches os.Getenv \(env.go:\d+, by way of env.token\) while it is initialized.*//capgenvet:dependency example.com/dep/env and why`
	runtime.ServeWorkerAndExit()
	os.Exit(host.Main(host.Options{}))
}
