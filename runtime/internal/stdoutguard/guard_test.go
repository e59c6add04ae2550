package stdoutguard_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/internal/noisy"
	"github.com/capgen/capgen/runtime/internal/stdoutguard"
)

// TestMain speaks a protocol of one word when it is started as a process that
// needs the guard, with prints before and after it.
func TestMain(m *testing.M) {
	speaks := os.Getenv(stdoutguard.Marker) != "" || len(os.Args) > 1 && (os.Args[1] == "stdio" || os.Args[1] == "other")
	if !speaks {
		os.Exit(m.Run())
	}
	fmt.Println("a print in main", noisy.Printed)
	fd, ok := stdoutguard.Stdout()
	if !ok {
		fmt.Print("unguarded")
		os.Exit(0)
	}
	if fd < 3 {
		panic("the private descriptor is a standard one")
	}
	out := os.NewFile(uintptr(fd), "protocol")
	out.WriteString("protocol")
	// A child does not inherit the private descriptor.
	if runtime.GOOS == "linux" {
		child := exec.Command("/bin/sh", "-c", fmt.Sprintf("echo leak >&%d", fd))
		if child.Run() == nil {
			out.WriteString("inherited")
		}
	}
	os.Exit(0)
}

func start(t *testing.T, environment []string, arguments ...string) (stdout, stderr string) {
	t.Helper()
	c := exec.Command(os.Args[0], arguments...)
	c.Env = environment
	var out, err bytes.Buffer
	c.Stdout, c.Stderr = &out, &err
	if failure := c.Run(); failure != nil {
		t.Fatalf("%v: %s", failure, err.String())
	}
	return out.String(), err.String()
}

func TestGuard(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no guard here")
	}
	worker := []string{stdoutguard.Marker + "=1"}
	for name, run := range map[string]func() (string, string){
		"worker": func() (string, string) { return start(t, worker) },
		"host": func() (string, string) {
			if runtime.GOOS != "linux" {
				t.Skip("the arguments are not to be had so early here")
			}
			return start(t, []string{}, "stdio", "--root", ".")
		},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr := run()
			if stdout != "protocol" {
				t.Errorf("standard output is %q", stdout)
			}
			if !strings.Contains(stderr, "a package init printed this") || !strings.Contains(stderr, "a print in main") {
				t.Errorf("the prints are not on standard error: %q", stderr)
			}
		})
	}
}

// Other processes keep their standard output.
func TestNoGuard(t *testing.T) {
	for _, arguments := range [][]string{{"other"}, {"other", "stdio"}} {
		stdout, _ := start(t, []string{"PATH=/"}, arguments...)
		if !strings.Contains(stdout, "a package init printed this") || !strings.HasSuffix(stdout, "unguarded") {
			t.Errorf("%q: standard output is %q", arguments, stdout)
		}
	}
}

// With standard error closed there is nowhere to divert to.
func TestNoStandardError(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a shell")
	}
	out, err := exec.Command("/bin/sh", "-c", "exec '"+os.Args[0]+"' stdio 2>&-").Output()
	if err != nil {
		t.Fatal(err)
	}
	// Go opens a missing standard descriptor before anything runs, so the
	// guard holds all the same.
	if string(out) != "protocol" {
		t.Errorf("standard output is %q", out)
	}
}

// What the guard rests on: it imports nothing but syscall.
func TestImports(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the go command")
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		c := exec.Command("go", "list", "-f", "{{join .Imports \" \"}}", ".")
		c.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			t.Skip("no go command: ", err)
		}
		if got := strings.TrimSpace(string(out)); got != "syscall" {
			t.Errorf("%s: imports %s", system, got)
		}
	}
}
