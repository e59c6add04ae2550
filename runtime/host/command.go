package host

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Extension is what a program understands besides the words of this package.
type Extension struct {
	// Flags declares the flags of Commands; nil declares none. It is called once
	// per parse and must do nothing but declare.
	Flags func(*flag.FlagSet)
	// Variables names, for flags of the program and of Commands, the variables of
	// the environment that stand in for them: CAPGEN_ and upper case.
	Variables map[string]string
	// Commands are in the order in which help lists them.
	Commands []Command
	// Doctor adds its lines to those of doctor, and says whether all is well;
	// nil adds none.
	Doctor func(ctx context.Context, env Env, line func(name, format string, args ...any)) bool
}

// Command is a word, or two, that follow a program's name: what people at a
// terminal do, which no program of an agent can. None starts a server.
type Command struct {
	// Name is one lower-case word, or two with a space between them.
	Name string
	// Arguments and Summary are for help.
	Arguments, Summary string
	// Min and Max positional arguments; Max below zero is any number.
	Min, Max int
	// Flags are the names of the flags that this command has and those without
	// them have not.
	Flags []string
	// Hidden leaves it out of help: the program starts it, and people do not.
	Hidden bool
	// Run does it. Main prints its error, and answers ExitFailed, or what an
	// ExitError says.
	Run func(context.Context, Invocation) error
}

// Invocation is one use of a Command.
type Invocation struct {
	Env       Env
	Program   string // its name, as users type it
	Arguments []string
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
}

// ExitError is the error of a Command with an exit code of its own. Without an
// Err, the command has said already what was wrong.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *ExitError) Unwrap() error { return e.Err }

// extended is the command of the extension that the arguments begin with, and
// the arguments after its name.
func (o Options) extended(arguments []string) (Command, []string, bool) {
	for words := min(2, len(arguments)); words > 0; words-- {
		name := strings.Join(arguments[:words], " ")
		if i := slices.IndexFunc(o.Extension.Commands, func(c Command) bool { return c.Name == name }); i >= 0 {
			return o.Extension.Commands[i], arguments[words:], true
		}
	}
	return Command{}, nil, false
}

// foreignTo refuses flags that the extension has for commands other than one
// that has the flags own.
func (o Options) foreignTo(own []string, given map[string]bool) error {
	for _, c := range o.Extension.Commands {
		for _, name := range c.Flags {
			if given[name] && !slices.Contains(own, name) {
				return fmt.Errorf("--%s is a flag of %s", name, c.Name)
			}
		}
	}
	return nil
}

// runExtended runs c.
func (p *program) runExtended(ctx context.Context, c Command, env Env, arguments []string) int {
	err := c.Run(ctx, Invocation{
		Env: env, Program: p.options.Name, Arguments: arguments,
		Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr,
	})
	var exit *ExitError
	switch {
	case err == nil:
		return ExitOK
	case !errors.As(err, &exit):
		p.broken(err)
		return ExitFailed
	case exit.Err != nil:
		p.broken(err)
	}
	return exit.Code
}
