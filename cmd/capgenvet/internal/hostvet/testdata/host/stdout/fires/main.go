package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"syscall"

	"example.com/dep"
	"example.com/host/stdout/lib"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

func main() {
	runtime.ServeWorkerAndExit()
	fmt.Println("x")                      // want `fmt.Println \(main.go:\d+\) writes to standard output`
	log.SetOutput(os.Stdout)              // want `os.Stdout`
	flag.CommandLine.SetOutput(os.Stdout) // want `os.Stdout`
	json.NewEncoder(os.Stdout).Encode(1)  // want `os.Stdout`
	syscall.Write(1, []byte("x"))         // want `syscall.Write`
	os.NewFile(1, "out")                  // want `os.NewFile`
	w := io.Writer(os.Stdout)             // want `os.Stdout`
	fmt.Fprint(w, "x")
	print := fmt.Printf
	print("x")           // want `fmt.Printf`
	dep.Chatter()        // want `fmt.Println \(dep.go:\d+, by way of dep.Chatter\)`
	lib.Report(1)        // want `fmt.Print \(lib.go:\d+, by way of lib.Report\)`
	emit(&dep.Printer{}) // want `fmt.Println \(dep.go:\d+, by way of \(\*dep.Printer\).Emit, dep.step, dep.Chatter\)`
	f := (*dep.Printer).Emit
	f(nil)                          // want `by way of \(\*dep.Printer\).Emit`
	dep.Each(lib.Mapper[int]{}.Map) // want `fmt.Print .*lib.Mapper`
	defer helper()
	os.Exit(host.Main(host.Options{Build: build}))
}

type emitter interface{ Emit() }

func emit(e emitter) { e.Emit() }

func helper() {
	func() {
		fmt.Print("x") // want `fmt.Print`
	}()
}

func build() (*runtime.Builder, error) {
	go watch()
	return nil, nil
}

func watch() {
	fmt.Println("x") // want `fmt.Println`
}
