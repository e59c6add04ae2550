// Package runner holds the programs that run candidate code: which file is
// started, with which arguments and environment, and what stands in the way of
// it being another. It must never know a plan, a subject or what a candidate is
// for, and takes nothing from the arguments of a call.
//
// A host registers runners by name; a manifest says which one a capability uses:
//
//	starlark, err := runner.Starlark()             // no dependency
//	python, err := runner.Python("/usr/bin/python3")
//
//	func main() {
//		runtime.ServeWorkerAndExit()
//		scope.ServeKeeperAndExit()
//		runner.ServeStarlarkAndExit() // returns at once in a process that runs no candidate
//		...
//	}
//
// # The box
//
// A candidate starts in a directory of its own, and every path that it is given
// is relative to it: its files below code, its arguments in arguments.json, both
// read-only, tmp to work in, and out for out/result.json, which it has to make, and
// out/progress, of which the first [confine.MaxProgress] bytes are shown while it runs, and
// as they were left when it has ended.
//
// # Starlark
//
// The entry is main.star. It is a program as the tool execute takes it, in the
// language of runtime/program, without capabilities: it reads its arguments as the
// dict data, and what main() returns is the result.
//
//	def main():
//	    print("progress: rating " + data["model"])
//	    return {"summary": "done", "metrics": {"error": 0.25}}
//
// What it prints goes to standard output; a line that begins with "progress: " is
// its progress besides. There is one file: load is refused as in any program. The
// process gives up, for good, what it could do beside computing (package
// runtime/worker/sandbox) before it looks at the first byte of the program; with a
// layer missing it ends. Its status is [ExitProgram], [ExitLimit] or [ExitBox].
//
// # Python
//
// The entry is main.py, and code/ is where it imports from. It reads and writes
// the files of the box itself:
//
//	import json
//	with open("arguments.json") as f:
//	    arguments = json.load(f)
//	with open("out/result.json", "w") as f:
//	    json.dump({"summary": "done", "metrics": {"error": 0.25}}, f)
//
// What confines it is package confine's.
package runner
