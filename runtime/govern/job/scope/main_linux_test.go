package scope

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/internal/cgrouptest"
)

// helperMark is the variable that makes the test binary a helper; its value is
// what it does.
const helperMark = "CAPGEN_TEST_SCOPE"

func TestMain(m *testing.M) {
	ServeKeeperAndExit()
	var err error
	switch os.Getenv(helperMark) {
	case "":
		os.Exit(m.Run())
	case "supervise":
		err = supervise(os.Stdin, os.Stdout, os.Args[1])
	case "reuse":
		err = reuse(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// soon is what bounds a test that waits, on a machine that is very busy.
func soon(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(stop)
	return ctx
}

// tiers are options for each tier that can be had here, with a log of those that
// cannot.
func tiers(t *testing.T) []Options {
	t.Helper()
	var list []Options
	for _, tier := range Tiers() {
		o := Options{Tier: tier}
		if tier == Cgroup {
			var err error
			if o.Cgroup, err = cgrouptest.Dir(t); err != nil {
				t.Log("tier cgroup: ", err)
				continue
			}
		}
		if err := Probe(soon(t), o); err != nil {
			if !errors.Is(err, ErrUnsupported) || tier == Tree {
				t.Fatal(err)
			}
			t.Log(err)
			continue
		}
		list = append(list, o)
	}
	return list
}

// script is sh, known by a mark in its environment and those of all it starts.
func script(mark, text string) Command {
	return Command{Path: "/bin/sh", Args: []string{"sh", "-c", text}, Dir: "/", Env: []string{
		"PATH=/usr/bin:/bin", "CAPGEN_TEST_MARK=" + mark,
	}}
}

// newMark is one that no process has.
func newMark(t *testing.T) string {
	return filepath.Base(t.TempDir()) + strconv.FormatInt(time.Now().UnixNano(), 36)
}

// marked are the processes with a mark, zombies not among them.
func marked(t *testing.T, mark string) (pids []int) {
	t.Helper()
	list, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if env, err := os.ReadFile("/proc/" + e.Name() + "/environ"); err == nil && bytes.Contains(env, []byte("CAPGEN_TEST_MARK="+mark+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// supervise is a process that has nothing but a scope: it reads options and a
// command, says its handle and what comes of it, and ends the scope when it is
// told to.
func supervise(in io.Reader, out io.Writer, alive string) error {
	var o struct {
		Options Options
		Command Command
	}
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&o); err != nil {
		return err
	}
	f, err := os.OpenFile(alive, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	o.Options.Alone, o.Options.patience, o.Options.Alive = true, 300*time.Millisecond, f
	o.Options.Stdout = os.Stdout
	s, err := Open(o.Options)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(s.Handle()); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	begun, stopBegun := context.WithTimeout(ctx, 10*time.Second)
	defer stopBegun()
	if err := s.Start(begun, o.Command); err != nil {
		// A candidate that stops or kills its keeper at once keeps it from
		// answering; the scope is to be ended all the same.
		fmt.Fprintln(os.Stderr, err)
	}
	var word string
	if err := decoder.Decode(&word); err != nil {
		return err
	}
	return s.End(ctx)
}

// helper is a supervise in a process of its own.
type helper struct {
	*exec.Cmd
	in     *json.Encoder
	out    *json.Decoder
	alive  string
	handle Handle
	stderr bytes.Buffer
}

func newHelper(t *testing.T, o Options, c Command) *helper {
	t.Helper()
	h := &helper{Cmd: exec.Command("/proc/self/exe"), alive: filepath.Join(t.TempDir(), "alive")}
	if err := os.WriteFile(h.alive, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.Args = append(h.Args, h.alive)
	h.Env = append(os.Environ(), helperMark+"=supervise")
	h.Stderr = &h.stderr
	in, err := h.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := h.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.in, h.out = json.NewEncoder(in), json.NewDecoder(out)
	if err := h.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := h.in.Encode(map[string]any{"Options": o, "Command": c}); err != nil {
		t.Fatal(err)
	}
	if err := h.out.Decode(&h.handle); err != nil {
		t.Fatal(err, h.stderr.String())
	}
	return h
}

// ready waits until the script has said so.
func (h *helper) ready(t *testing.T) {
	t.Helper()
	var word string
	if err := h.out.Decode(&word); err != nil || word != "ready" {
		t.Fatalf("%q, %v: %s", word, err, h.stderr.String())
	}
}

func (h *helper) emptied() (bool, error) {
	text, err := os.ReadFile(h.alive)
	return strings.HasSuffix(string(text), Emptied), err
}

// kill kills by a mark, for what a test lets live.
func kill(t *testing.T, mark string) {
	for range 1000 {
		list := marked(t, mark)
		if len(list) == 0 {
			return
		}
		for _, pid := range list {
			unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("cannot be killed")
}
