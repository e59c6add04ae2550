package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/capgen/capgen/cmd/capgen/internal/scaffold"
	"github.com/capgen/capgen/internal/mcpimport"
	"github.com/capgen/capgen/schema"
)

var errHelp = errors.New("help asked for")

// command is one word after capgen.
type command struct {
	name, usage, summary string
	details              string
	// object is a word that stands before the argument; empty for none.
	object string
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
	template string
	argument string
	against  string
	// deployment is shown instead of the argument.
	deployment string

	strict  bool
	explain string

	namespace, goPackage string
	confirmEffects       bool
	skips                []mcpimport.Skip
}

func commands() []*command {
	return []*command{
		{
			name: "init", summary: "start a project of your own",
			usage: "capgen init MODULE [--dir DIR] [--replace CHECKOUT] [--template local|http]",
			details: `MODULE is the project's module path, such as example.com/notes. The project has one
capability, random.int, with its handler, a program and tests; a Makefile; and a
go.mod in which capgen is a library and a tool. go mod tidy and go build run once in
it, so the go command is needed.

The template http adds what a server for others than its own user needs: it takes
access tokens of the issuers that its operator names, has a policy and an audit log,
and its tests start it, with an issuer of their own.

Nothing is overwritten: what is in the way is a finding. If a step fails or is
interrupted, what was written is removed again.

CHECKOUT is a clone of capgen's repository, which go.mod then takes capgen from: by
the absolute path, or by one relative to the project, as you give it. Without it
go.mod requires the released version that this capgen is.

Exit codes: 0 made and built, 1 files in the way, 2 usage, or a step failed.
`,
			argument: "MODULE", flags: []string{"dir", "replace", "template"}, run: initialize,
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
or a Go file of the module that handles a capability and is part of a deployment
that does not hold it. The unified diff that follows leads from what is there to what generate would
write; --format json leaves it out.

Exit codes: 0 nothing found, 1 findings, 2 usage or internal error.
`,
			flags: []string{"manifest", "out", "format"}, run: check,
		},
		{
			name: "lint", summary: "find what is allowed in a manifest and yet not good in it",
			usage: "capgen lint [--manifest FILE] [--format text|json|github] [--strict] [--explain ID]",
			details: `Looks at what a model reads, at names, effects and scopes, and at what programs may
pass: orders to the model, secrets, inputs without a bound, missing descriptions.
A manifest that generate refuses is refused here for the same reasons. What is
accepted is listed in the manifest: lint: {allow: [{rule, target, reason}]}.

--explain says what the rule ID looks for, and why; without a manifest.

Exit codes: 0 no errors, 1 errors, or with --strict any finding, 2 usage or internal
error.
`,
			flags: []string{"manifest", "format", "strict", "explain"}, run: lintManifest,
		},
		{
			name: "breaking", summary: "tell who a change of the manifest breaks",
			usage: "capgen breaking --against git:REF|PATH [--manifest FILE] [--format text|json|github|markdown]",
			details: `Compares the manifest with an older one: git:REF is the same file as it was in a
commit, with all that it includes; PATH is a file, or a folder with a manifest of the
same name. Each difference is a finding that is breaking, a warning or a note.

A breaking finding passes with a waiver, a file changes/NAME.yaml beside the manifest
that names rule, target and fingerprint exactly, and says reason, approver and the day
on which it expires. A waiver that is not used, or has expired, is a finding too.

--format markdown is the summary of a pull request; generated files that are stale
count as findings there.

Exit codes: 0 nothing breaking without a waiver, 1 findings, 2 usage, or a manifest or
a waiver that cannot be read.
`,
			flags: []string{"against", "manifest", "format"}, run: breakingChanges,
		},
		{
			name: "show", summary: "print one capability in its effective form, or a deployment",
			usage: "capgen show NAME | --deployment NAME [--manifest FILE] [--format text|json]",
			details: `NAME is the capability's id or its dotted name. What it may do comes first, then
how a program calls it, then the schemas with everything implicit written out.

Of a deployment it prints what a build holds, with effects and scopes, and what a
server of it requires; untagged is what a build without a tag holds.

Exit codes: 0 shown, 1 findings in the manifest or no such capability, 2 usage or
internal error.
`,
			argument: "NAME", flags: []string{"deployment", "manifest", "format"}, run: show,
		},
		{
			name: "stub", summary: "print a Go file with a handler to fill in",
			usage: "capgen stub NAME [--manifest FILE]",
			details: `NAME is the capability's id or its dotted name. The file begins with the build tags
of the deployments that hold it, where not every build does, and goes to standard
output.

Exit codes: 0 printed, 1 findings in the manifest or no such capability, 2 usage or
internal error.
`,
			argument: "NAME", flags: []string{"manifest"}, run: stub,
		},
		{
			name: "import", summary: "turn the tools of an MCP server into entries of a manifest",
			usage: "capgen import mcp FILE [--namespace NAMESPACE] [--package PATH] [--out FILE] [--skip TARGET=REASON]... [--confirm-effects] [--format text|json|github]",
			details: `FILE is what an MCP server answers to tools/list: the result, a response with it, or
the list of tools. Entries go to standard output, findings to standard error. With
--package they are a whole manifest; without, a part of one: types and capabilities.

No schema is widened. What a manifest cannot say is left out: an optional property,
a variant of anyOf, or the tool; each is a finding that names its place by a JSON
pointer. --skip accepts one, by that pointer, or leaves a tool out by its name.

Effects are proposals: generate refuses each until a person has checked it and has
removed its line inferred. --confirm-effects writes none: you vouch for all.

Exit codes: 0 all imported or skipped, 1 something is left out, 2 usage or internal
error, or a file in the way.
`,
			object: "mcp", argument: "FILE", run: importMCP,
			flags: []string{"namespace", "package", "out", "skip", "confirm-effects", "format"},
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
			usage := "where to write; by default next to the manifest, in the last part of go.package"
			if c.object != "" {
				usage = "a file to write, which must not be there yet; by default standard output"
			}
			fs.StringVar(&o.out, "out", "", usage)
		case "deployment":
			fs.StringVar(&o.deployment, "deployment", "", "a deployment, instead of a capability")
		case "format":
			fs.StringVar((*string)(&o.format), "format", "text", "how findings are written")
		case "against":
			fs.StringVar(&o.against, "against", "", "what to compare with: git:REF, a file or a folder")
		case "dir":
			fs.StringVar(&o.dir, "dir", ".", "the project's folder; made if it is missing")
		case "template":
			fs.StringVar(&o.template, "template", scaffold.Local, "what the project begins with: "+strings.Join(scaffold.Templates(), " or "))
		case "replace":
			fs.StringVar(&o.replace, "replace", "", "a checkout of capgen, to use instead of a release")
		case "namespace":
			fs.StringVar(&o.namespace, "namespace", "", "what all names begin with; by default made of the file's name")
		case "package":
			fs.StringVar(&o.goPackage, "package", "", "go.package of a whole manifest")
		case "skip":
			fs.Func("skip", "a tool's name, or a finding's pointer, and why it may be left out; may be given several times", o.addSkip)
		case "confirm-effects":
			fs.BoolVar(&o.confirmEffects, "confirm-effects", false, "take every proposed effect: you vouch for them")
		case "strict":
			fs.BoolVar(&o.strict, "strict", false, "warnings fail too")
		case "explain":
			fs.StringVar(&o.explain, "explain", "", "a rule's id: say what it looks for, and nothing else")
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
	if c.object != "" {
		if len(rest) == 0 || rest[0] != c.object {
			return nil, fmt.Errorf("import from %s is what there is: %s", c.object, c.usage)
		}
		rest = rest[1:]
	}
	if (c.argument == "" || o.deployment != "") && len(rest) > 0 {
		return nil, fmt.Errorf("unexpected argument %q", rest[0])
	}
	if c.argument != "" && len(rest) != 1 && o.deployment == "" {
		return nil, fmt.Errorf("give one %s", c.argument)
	}
	if len(rest) == 1 {
		o.argument = rest[0]
	}
	return o, c.checkFormat(o.format)
}

func (c *command) checkFormat(f schema.Format) error {
	formats := []schema.Format{schema.FormatText, schema.FormatJSON, schema.FormatGitHub}
	switch c.name {
	case "show":
		formats = formats[:2]
	case "breaking":
		formats = append(formats, formatMarkdown)
	}
	if f == "" || slices.Contains(formats, f) {
		return nil
	}
	var words []string
	for _, known := range formats {
		words = append(words, string(known))
	}
	last := len(words) - 1
	return fmt.Errorf("unknown format %q: give %s or %s", f, strings.Join(words[:last], ", "), words[last])
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
