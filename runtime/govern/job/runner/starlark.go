package runner

import "os"

// StarlarkName is the name of Starlark's runner.
const StarlarkName = "starlark"

// starlarkMark is the variable that makes a process of the host's binary one that
// runs a candidate.
const starlarkMark = "CAPGEN_CANDIDATE"

const starlarkEntry = "main.star"

// ServeStarlarkAndExit returns at once in a process that is not to run a Starlark
// candidate. In one it runs the one in the working directory, and ends the process.
// It stands in main beside the worker's entry: what comes before runs in such a
// process too, outside of the sandbox.
func ServeStarlarkAndExit() {
	if os.Getenv(starlarkMark) == StarlarkName {
		serveStarlark()
	}
}
