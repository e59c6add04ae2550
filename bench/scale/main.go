// Command scale measures what a manifest of many capabilities costs: to
// generate its code, to compile it, to change one line, and to start a server
// of it. It prints one table a number, and fails where a change of one line
// compiles more than the namespace it is in, the catalog and the program.
//
//	scale CAPGEN CHECKOUT NUMBER...
//
// CAPGEN is the tool to generate with, CHECKOUT the clone that the code
// compiles against. What the code imports is compiled before anything is timed,
// and the module has a name of its own, so that nothing of it is in the cache.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// perNamespace is how many capabilities a namespace has, and perPart how many
// namespaces a file of the manifest.
const (
	perNamespace = 20
	perPart      = 10
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: scale CAPGEN CHECKOUT NUMBER...")
		os.Exit(2)
	}
	capgen, err := filepath.Abs(os.Args[1])
	if err == nil {
		var checkout string
		if checkout, err = filepath.Abs(os.Args[2]); err == nil {
			for _, text := range os.Args[3:] {
				if err = measure(capgen, checkout, text); err != nil {
					break
				}
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// project is one module of n capabilities.
type project struct {
	dir, module, capgen string
	n                   int
}

func measure(capgen, checkout, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return fmt.Errorf("%s is no number of capabilities", number)
	}
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := &project{dir: dir, module: "example.com/" + filepath.Base(dir), capgen: capgen, n: n}
	if err := p.write(checkout); err != nil {
		return err
	}
	fmt.Printf("\n| %d capabilities | Time | Processor time | Largest process |\n|---|---|---|---|\n", n)
	row := func(what string, c cost) {
		fmt.Printf("| %s | %s | %s | %d MB |\n", what, c.time.Round(time.Millisecond), c.cpu.Round(time.Millisecond), c.memory>>20)
	}
	var generated []cost
	for range 3 {
		if err := os.RemoveAll(filepath.Join(dir, "generated")); err != nil {
			return err
		}
		c, _, err := p.run(capgen, "generate")
		if err != nil {
			return err
		}
		generated = append(generated, c)
	}
	row("`capgen generate`, nothing there, median of three", middle(generated))
	if _, _, err := p.run("go", "build", "-o", os.DevNull, "./warm"); err != nil {
		return err
	}
	c, _, err := p.run("go", "build", "-o", "server", ".")
	if err != nil {
		return err
	}
	row("`go build`, only dependencies compiled before", c)
	if err := p.edit(); err != nil {
		return err
	}
	if c, _, err = p.run(capgen, "generate"); err != nil {
		return err
	}
	row("`capgen generate`, one line changed", c)
	c, out, err := p.run("go", "build", "-v", "-o", "server", ".")
	if err != nil {
		return err
	}
	compiled := strings.Fields(out)
	row(fmt.Sprintf("`go build` then, %d packages compiled", len(compiled)), c)
	want := []string{p.module, p.module + "/generated/catalog", p.module + "/generated/space0"}
	if slices.Sort(compiled); !slices.Equal(compiled, want) {
		return fmt.Errorf("one line compiled %v, not only %v", compiled, want)
	}
	var starts []cost
	var reports []string
	for range 5 {
		c, out, err := p.run("./server")
		if err != nil {
			return err
		}
		starts, reports = append(starts, c), append(reports, strings.TrimSpace(out))
	}
	row("the server, from start to built to end, median of five", middle(starts))
	slices.Sort(reports)
	fmt.Printf("\n%s\n", reports[len(reports)/2])
	return nil
}

// cost is what one command took.
type cost struct {
	time, cpu time.Duration
	memory    int64 // bytes of the largest of its processes
}

func middle(list []cost) cost {
	slices.SortFunc(list, func(a, b cost) int { return int(a.time - b.time) })
	return list[len(list)/2]
}

func (p *project) run(name string, args ...string) (c cost, output string, err error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(cmd.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return c, "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	c = cost{time: time.Since(begin), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.memory = usage.Maxrss << 10
	}
	return c, string(out), nil
}

// edit changes one line of the manifest.
func (p *project) edit() error {
	name := filepath.Join(p.dir, "part0.yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(strings.Replace(string(text), "Look up record 0 by", "Find record 0 by", 1)), 0o666)
}
