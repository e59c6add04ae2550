package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes, the same for each command.
const (
	exitClean    = 0
	exitFindings = 1
	exitUsage    = 2 // and internal errors
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], &tool{stdout: os.Stdout, stderr: os.Stderr, dir: "."}))
}

// interruptible is ctx, done at the first interrupt or termination signal; a
// second one ends the process. It is for the time in which files are written:
// at any other the first signal ends the process, whatever that waits for.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// tool is where a command reads and writes. dir is what relative paths are
// relative to.
type tool struct {
	stdout, stderr io.Writer
	dir            string
}

// fail reports what kept a command from doing its work.
func (t *tool) fail(err error) int {
	fmt.Fprintf(t.stderr, "capgen: %v\n", err)
	return exitUsage
}

// run is capgen with args, without the program's name.
func run(ctx context.Context, args []string, t *tool) int {
	if len(args) == 0 {
		fmt.Fprint(t.stderr, overview())
		return exitUsage
	}
	switch {
	case isHelp(args[0]):
		return help(t, args[1:])
	case args[0] == "-version" || args[0] == "--version":
		args = []string{"version"}
	}
	c := find(args[0])
	if c == nil {
		return unknown(t, "command", args[0], commandNames())
	}
	o, err := c.parse(args[1:])
	switch {
	case err == errHelp:
		fmt.Fprint(t.stdout, c.help())
		return exitClean
	case err != nil:
		fmt.Fprintf(t.stderr, "capgen %s: %v\nrun capgen help %s\n", c.name, err, c.name)
		return exitUsage
	}
	return c.run(ctx, t, o)
}

func isHelp(word string) bool {
	return word == "help" || word == "-h" || word == "-help" || word == "--help"
}

func help(t *tool, args []string) int {
	if len(args) == 0 || isHelp(args[0]) {
		fmt.Fprint(t.stdout, overview())
		return exitClean
	}
	c := find(args[0])
	if c == nil {
		return unknown(t, "command", args[0], commandNames())
	}
	fmt.Fprint(t.stdout, c.help())
	return exitClean
}

func unknown(t *tool, what, name string, known []string) int {
	fmt.Fprintf(t.stderr, "capgen: unknown %s %q%s\nrun capgen help\n", what, name, didYouMean(name, known))
	return exitUsage
}
