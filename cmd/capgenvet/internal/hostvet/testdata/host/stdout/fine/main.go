package main

import (
	"fmt"
	"log"
	"os"

	"example.com/dep"
	"example.com/host/stdout/lib"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

const verbose = false

func main() {
	runtime.ServeWorkerAndExit()
	fmt.Fprintln(os.Stderr, dep.Quiet(), lib.Text(1))
	log.Println("x")
	println("x")
	lib.Spoken()
	println(os.Stdout.Fd())
	os.Stdout = os.Stderr
	if _, err := os.Stdout.Stat(); err != nil {
		os.Exit(2)
	}
	if verbose {
		fmt.Println("x")
	}
	os.NewFile(2, "err")
	os.Exit(host.Main(host.Options{}))
}

// Nothing reaches it.
func unused() { fmt.Println("x") }

type emitter interface{ Emit() }

// What is called through an interface counts where the value is converted.
func emit(e emitter) { e.Emit() }
