package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/capgen/capgen/cmd/capgen/internal/scaffold"
	"github.com/capgen/capgen/schema"
)

// maxGoSum bounds what is read of a checkout's go.sum, in bytes.
const maxGoSum = 16 << 20

// goGrace is how long an interrupted go command may take to stop.
const goGrace = 5 * time.Second

// initialize makes a project: all of it, built once, or nothing.
func initialize(ctx context.Context, t *tool, o *options) int {
	files, err := t.project(o)
	if err != nil {
		return t.initFailed(err)
	}
	if _, err := exec.LookPath("go"); err != nil {
		return t.initFailed(fmt.Errorf("the go command is not on PATH: a project needs Go %s or later", scaffold.GoVersion))
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	s, err := t.openSite(o.dir)
	if err != nil {
		return t.initFailed(err)
	}
	defer s.close()
	inTheWay, err := s.conflicts(files)
	if err == nil && len(inTheWay) > 0 {
		return t.refuseInit(inTheWay)
	}
	if err == nil {
		err = t.make(ctx, s, files)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		left := s.undo()
		if len(left) == 0 {
			return t.initFailed(fmt.Errorf("%w\nnothing is left of the project", err))
		}
		return t.initFailed(fmt.Errorf("%w\nwhat is left, because it could not be removed:\n  %s", err, strings.Join(left, "\n  ")))
	}
	t.sayNext(s, o)
	return exitClean
}

func (t *tool) initFailed(err error) int { return t.fail(fmt.Errorf("init: %w", err)) }

// project is the files of the project that o asks for.
func (t *tool) project(o *options) (map[string][]byte, error) {
	p := scaffold.Project{Module: o.argument, Template: o.template}
	if !slices.Contains(scaffold.Templates(), p.Template) {
		return nil, fmt.Errorf("--template %s: there is none of that name; there are %s", p.Template, strings.Join(scaffold.Templates(), " and "))
	}
	if err := scaffold.CheckModule(p.Module); err != nil {
		return nil, err
	}
	var err error
	if o.replace != "" {
		if p.Sums, err = t.checkout(o.replace); err == nil {
			p.Replace, err = t.replacement(o.replace, o.dir)
		}
	} else {
		info, _ := debug.ReadBuildInfo()
		p.Version, err = released(info)
	}
	if err != nil {
		return nil, err
	}
	return scaffold.Files(p)
}

// released is the version of capgen that a go.mod can require to get the code
// that belongs to this program. There is one only if the program was built
// from a module that the go command had downloaded, and therefore has a sum of.
func released(info *debug.BuildInfo) (version string, err error) {
	if info == nil || info.Main.Path != scaffold.Capgen || info.Main.Sum == "" || info.Main.Replace != nil {
		return "", errors.New("no release of capgen can be required: this capgen was built from a checkout; name that checkout with --replace CHECKOUT")
	}
	return info.Main.Version, nil
}

// checkout makes sure that dir holds capgen, and returns its go.sum.
func (t *tool) checkout(dir string) ([]byte, error) {
	name := filepath.Join(t.path(dir), "go.mod")
	if is := modulePath(name); is != scaffold.Capgen {
		if is == "" {
			return nil, fmt.Errorf("--replace %s: there is no go.mod of module %s", dir, scaffold.Capgen)
		}
		return nil, fmt.Errorf("--replace %s: go.mod there is of module %s, not of %s", dir, is, scaffold.Capgen)
	}
	f, err := os.Open(filepath.Join(t.path(dir), "go.sum"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxGoSum))
}

// replacement is the checkout as a replace directive has it: absolute if it was
// given so, otherwise relative to the project.
func (t *tool) replacement(checkout, dir string) (string, error) {
	if filepath.IsAbs(checkout) {
		return filepath.Clean(checkout), nil
	}
	to, err := filepath.Abs(t.path(checkout))
	if err != nil {
		return "", err
	}
	from, err := filepath.Abs(t.path(dir))
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(from, to)
	if err != nil { // another volume
		return to, nil
	}
	if relative = filepath.ToSlash(relative); !strings.HasPrefix(relative, "../") && relative != ".." {
		relative = "./" + relative
	}
	return relative, nil
}

// make writes the files, lets the go command fill in go.mod and go.sum, and
// sees whether it all compiles.
func (t *tool) make(ctx context.Context, s *site, files map[string][]byte) error {
	work, err := t.goCommand(ctx, s, "env", "GOWORK")
	if err != nil {
		return err
	}
	if work = strings.TrimSpace(work); work != "" && work != "off" {
		return fmt.Errorf("%s covers %s, and does not use it: the go command would not build the project; take another --dir, or set GOWORK=off", work, s.name)
	}
	if err := s.write(ctx, files); err != nil {
		return err
	}
	fmt.Fprintf(t.stderr, "wrote %d files to %s\n", len(files), s.name)
	fmt.Fprintln(t.stderr, "running go mod tidy")
	untidy := t.tidy(ctx, s)
	fmt.Fprintln(t.stderr, "running go build ./... (the first time this compiles every dependency)")
	if _, err := t.goCommand(ctx, s, "build", "./..."); err != nil {
		return cmp.Or(untidy, err)
	}
	if untidy != nil {
		fmt.Fprintf(t.stderr, "note: it builds, but go mod tidy could not look at everything; with a network, run it again in %s\n", s.name)
	}
	return nil
}

// tidy fills go.mod and go.sum in. It also looks at the tests of dependencies,
// whose own dependencies a machine without a network may not have. They are
// needed for their sums only: then the rest is filled in, the error tells what
// was not found, and the build decides whether it matters.
func (t *tool) tidy(ctx context.Context, s *site) error {
	_, err := t.goCommand(ctx, s, "mod", "tidy")
	if err != nil && ctx.Err() == nil {
		_, _ = t.goCommand(ctx, s, "mod", "tidy", "-e") // says the same as the first
	}
	return err
}

// goCommand runs the go command in the project. What it says on standard error
// is part of the error, if it fails.
func (t *tool) goCommand(ctx context.Context, s *site, args ...string) (stdout string, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = s.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = goGrace
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// refuseInit reports what stands where the project belongs.
func (t *tool) refuseInit(conflicts []conflict) int {
	var diags []schema.Diagnostic
	for _, c := range conflicts {
		diags = append(diags, finding(c.name, "project-in-the-way", c.why, "name another folder with --dir, or move this away"))
	}
	t.report(diags, schema.FormatText, true)
	return exitFindings
}

// sayNext prints the commands that come next.
func (t *tool) sayNext(s *site, o *options) {
	serve := "stdio             serve MCP on standard input and output"
	if o.template == scaffold.HTTP {
		serve = "http              serve MCP on localhost:8080; --help says how to name an issuer"
	}
	fmt.Fprintf(t.stdout, `%s holds the module %s. Next:

  cd %s
  go test ./...              run its tests
  go run . exec roll.star    run a program that calls random.int
  go run . %s
  go generate ./...          after each change of capabilities.yaml
`, s.name, o.argument, shellWord(filepath.FromSlash(s.name)), serve)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9/._~+@%\\:-]+$`)

// shellWord is s as one word of a command line.
func shellWord(s string) string {
	if plainWord.MatchString(s) && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "~") {
		return s
	}
	return strconv.Quote(s)
}
