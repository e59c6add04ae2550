// Command capgenvet looks at the Go code of hosts for what only they must not
// do: begin main with anything but the worker's entry, do something while a
// package is initialized, print where a protocol speaks, write in a handler
// that is declared to read. It must never know one host from another: what it
// looks for is in the calls of Go and of capgen's runtime.
//
//	go vet -vettool=$(go tool -n capgenvet) ./...   as one more go vet
//	capgenvet ./...                                 by itself
//
// docs/reference/vet.md describes the rules and the comments that answer them.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/capgen/capgen/cmd/capgenvet/internal/hostvet"
)

func main() {
	multichecker.Main(hostvet.Analyzers()...)
}
