// Command builds builds a server, and never speaks over standard streams.
package main

import (
	"fmt"

	"github.com/capgen/capgen/runtime"
)

func main() {
	runtime.ServeWorkerAndExit()
	fmt.Println(runtime.NewBuilder().Build())
}
