package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/capgen/capgen/schema"
)

var errHelp = errors.New("help asked for")

// command is one word after capgen.
type command struct {
	name, usage, summary string
	details              string
	// argument is the name of the one argument; empty for none.
	argument string
	flags    []string // names of the options it has
	run      func(context.Context, *tool, *options) int
}

// options are what flags and arguments set.
type options struct {
	manifest string
	out      string
	format   schema.Format
	dryRun   bool
	dir      string
	replace  string
	argument string
}

func commands() []*command {
	return []*command{
		{
			name: "init", summary: "start a project of your own",
			usage: "capgen init MODULE [--dir DIR] [--replace CHECKOUT]",
			details: `MODULE is the project's module path, such as example.com/notes. The project has one
capability, random.int, with its handler, a program and tests; a Makefile; and a
go.mod in which capgen is a library and a tool. go mod tidy and go build run once in
it, so the go command is needed.

Nothing is overwritten: what is in the way is a finding. If a step fails or is
interrupted, what was written is removed again.

CHECKOUT is a clone of capgen's repository, which go.mod then takes capgen from: by
the absolute path, or by one relative to the project, as you give it. Without it
go.mod requires the released version that this capgen is.

Exit codes: 0 made and built, 1 files in the way, 2 usage, or a step failed.
`,
			argument: "MODULE", flags: []string{"dir", "replace"}, run: initialize,
		},
		{
			name: "generate", summary: "compile the manifest into Go",
			usage: "capgen generate [--manifest FILE] [--out DIR] [--format text|json|github] [--dry-run]",
			details: `Writes the files that differ, and removes files that it wrote before and that the
manifest no longer asks for: those whose first line says that capgen wrote them.
A file without that line is neither overwritten nor removed.

Exit codes: 0 written or up to date, 1 findings in the manifest or a file in the
way, 2 usage or internal error.
`,
			flags: []string{"manifest", "out", "format", "dry-run"}, run: generate,
		},
		{
			name: "check", summary: "compare the generated code with what generate would write",
			usage: "capgen check [--manifest FILE] [--out DIR] [--format text|json|github]",
			details: `Changes nothing. A finding is a file that is
  missing  it was never generated, or was removed
  stale    it is as it was generated, but the manifest has changed since
  edited   its bytes are not those that lock/generated.sha256 recorded for it
  extra    the manifest does not ask for it
The unified diff that follows leads from what is there to what generate would
write; --format json leaves it out.

Exit codes: 0 nothing found, 1 findings, 2 usage or internal error.
`,
			flags: []string{"manifest", "out", "format"}, run: check,
		},
		{
			name: "show", summary: "print one capability in its effective form",
			usage: "capgen show NAME [--manifest FILE] [--format text|json]",
			details: `NAME is the capability's id or its dotted name. What it may do comes first, then
how a program calls it, then the schemas with everything implicit written out.

Exit codes: 0 shown, 1 findings in the manifest or no such capability, 2 usage or
internal error.
`,
			argument: "NAME", flags: []string{"manifest", "format"}, run: show,
		},
		{
			name: "version", summary: "print the version", usage: "capgen version",
			details: "Exit codes: 0 printed, 2 usage.\n", run: version,
		},
	}
}

func find(name string) *command {
	for _, c := range commands() {
		if c.name == name {
			return c
		}
	}
	return nil
}

func commandNames() []string {
	names := []string{"help"}
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

func overview() string {
	var b strings.Builder
	b.WriteString("capgen compiles a manifest of capabilities into Go.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  capgen %-10s %s\n", c.name, c.summary)
	}
	b.WriteString("\nRun it where capabilities.yaml is. capgen help COMMAND says more.\nExit codes: 0 clean, 1 findings, 2 usage or internal error.\n")
	return b.String()
}

func (c *command) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s%s.\n\n%s", c.usage, strings.ToUpper(c.summary[:1]), c.summary[1:], c.details)
	if len(c.flags) > 0 {
		b.WriteString("\nOptions:\n")
		c.flagSet(&options{}).VisitAll(func(f *flag.Flag) {
			def := ""
			if f.DefValue != "" && f.DefValue != "false" {
				def = " (default " + f.DefValue + ")"
			}
			fmt.Fprintf(&b, "  --%-10s %s%s\n", f.Name, f.Usage, def)
		})
	}
	return b.String()
}

func (c *command) flagSet(o *options) *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	for _, name := range c.flags {
		switch name {
		case "manifest":
			fs.StringVar(&o.manifest, "manifest", "capabilities.yaml", "the manifest")
		case "out":
			fs.StringVar(&o.out, "out", "", "where to write; by default next to the manifest, in the last part of go.package")
		case "format":
			fs.StringVar((*string)(&o.format), "format", "text", "how findings are written")
		case "dir":
			fs.StringVar(&o.dir, "dir", ".", "the project's folder; made if it is missing")
		case "replace":
			fs.StringVar(&o.replace, "replace", "", "a checkout of capgen, to use instead of a release")
		case "dry-run":
			fs.BoolVar(&o.dryRun, "dry-run", false, "say what would be written, and write nothing")
		}
	}
	return fs
}

// parse reads flags before and after the argument.
func (c *command) parse(args []string) (*options, error) {
	o := &options{}
	fs := c.flagSet(o)
	var rest []string
	for {
		if err := fs.Parse(args); err != nil {
			return nil, c.flagError(err)
		}
		args = fs.Args()
		if len(args) == 0 {
			break
		}
		rest, args = append(rest, args[0]), args[1:]
	}
	if c.argument == "" && len(rest) > 0 {
		return nil, fmt.Errorf("unexpected argument %q", rest[0])
	}
	if c.argument != "" && len(rest) != 1 {
		return nil, fmt.Errorf("give one %s", c.argument)
	}
	if c.argument != "" {
		o.argument = rest[0]
	}
	return o, c.checkFormat(o.format)
}

func (c *command) checkFormat(f schema.Format) error {
	switch f {
	case "", schema.FormatText, schema.FormatJSON:
		return nil
	case schema.FormatGitHub:
		if c.name != "show" {
			return nil
		}
	}
	formats := "text, json or github"
	if c.name == "show" {
		formats = "text or json"
	}
	return fmt.Errorf("unknown format %q: give %s", f, formats)
}

// flagError adds the nearest name to the flag package's message.
func (c *command) flagError(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return errHelp
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag needs an argument: -"); ok {
		return fmt.Errorf("--%s needs a value", name)
	}
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return err
	}
	var flags []string
	for _, f := range c.flags {
		flags = append(flags, "--"+f)
	}
	return fmt.Errorf("unknown flag --%s%s", name, didYouMean("--"+name, flags))
}
