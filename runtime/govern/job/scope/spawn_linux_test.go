package scope

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What is spawned is nobody's child, leads a session, and has the files that it
// was given and no others.
func TestSpawn(t *testing.T) {
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	mark := newMark(t)
	c := script(mark, `echo $$ $(ls /proc/$$/fd | tr '\n' ' '); cat; pwd; env >&3; exec sleep 1000`)
	t.Cleanup(func() { kill(t, mark) })
	if err := Spawn(c.Path, c.Args, c.Env, nil, theirs, nil, theirs); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	fields := strings.Fields(first)
	if err != nil || len(fields) < 5 || strings.Join(fields[1:5], " ") != "0 1 2 3" || len(fields) > 6 { // the shell's own may be among them
		t.Fatalf("%q, %v", first, err)
	}
	dir, _ := lines.ReadString('\n')
	var env string
	for len(strings.Split(env, "\n")) < 3 {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		env += line
	}
	if dir != "/\n" || strings.Contains(env, runMark) || !strings.Contains(env, mark) {
		t.Errorf("%q, %q", dir, env)
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("session %d of %d, %v", sid, pid, err)
	}
	if _, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); err != unix.ECHILD {
		t.Errorf("it is a child: %v", err)
	}
}

// Servers have environments of any size, and it is theirs alone.
func TestSpawnWithLargeEnvironment(t *testing.T) {
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	large := strings.Repeat("x", 100_000)
	err = Spawn("/bin/sh", []string{"sh", "-c", "echo ${#A} ${#B} $CAPGEN_RUN ${GOMAXPROCS-none}"}, []string{"A=" + large, "B=" + large}, nil, theirs)
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(out); err != nil || string(said) != "100000 100000 none\n" {
		t.Errorf("%q, %v", said, err)
	}
}

// A program that cannot be started is told apart from one of which nobody knows.
func TestSpawnFails(t *testing.T) {
	for path, text := range map[string]string{"/nowhere/at-all": "no such file", "/etc/passwd": "permission denied"} {
		err := Spawn(path, []string{"x"}, nil)
		if err == nil || errors.Is(err, ErrUnsure) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := Spawn("/bin/sh", []string{strings.Repeat("x", maxCommand)}, nil); err == nil || errors.Is(err, ErrUnsure) {
		t.Error(err)
	}
}
