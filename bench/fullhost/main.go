// Command fullhost is what `make bench-gate` measures workers against: a host
// as they grow, with the MCP SDK, a policy engine and two databases linked in,
// that starts itself again for every program. It serves nothing.
package main

import (
	"fmt"
	"os"

	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
	_ "github.com/open-policy-agent/opa/v1/rego"
	_ "modernc.org/sqlite"

	"github.com/capgen/capgen/runtime"
)

func main() {
	runtime.ServeWorkerAndExit()
	fmt.Fprintln(os.Stderr, "fullhost: it is only started as a worker")
	os.Exit(2)
}
