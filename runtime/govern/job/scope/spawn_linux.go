package scope

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// spawnMark is what runMark begins with, of the process between two that are to
// have nothing to do with each other; the program follows as JSON. Its environment
// is the process's own but for runMark: one variable may not be as long.
const spawnMark = "spawn "

// Where that process finds what it was given: where it says what came of it, then
// the files of what it starts.
const (
	spawnFD = 3 + iota
	spawnFilesFD
)

// spawnPatience is how long it may take.
const spawnPatience = 10 * time.Second

// spawnStarted is what it says of a program that runs.
const spawnStarted = "started"

// spawned is a program as that process is told of it.
type spawned struct {
	Path  string   `json:"path"`
	Args  []string `json:"args"`
	Files int      `json:"files"` // how many
}

// Spawn starts a program that is nobody's child, in a session of its own: it
// outlives this process, and is never to be waited for. Its directory is /, and
// its descriptors are files, in order; nil is the null device. [ErrUnsure] is the
// error where it may have been started, with any other it was not.
func Spawn(path string, args, env []string, files ...*os.File) error {
	text, err := json.Marshal(spawned{path, args, len(files)})
	if err == nil && len(text) > maxCommand {
		err = fmt.Errorf("a program of %d bytes, at most %d", len(text), maxCommand)
	}
	if err != nil {
		return fmt.Errorf("scope: spawn: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("scope: spawn: %w", err)
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("scope: spawn: %w", err)
	}
	defer r.Close()
	given := []*os.File{null, null, null, w}
	for _, f := range files {
		if f == nil {
			f = null
		}
		given = append(given, f)
	}
	between, err := os.StartProcess("/proc/self/exe", []string{"spawn"}, &os.ProcAttr{
		Dir:   "/",
		Env:   append([]string{runMark + "=" + spawnMark + string(text)}, env...), // the first of a name counts
		Files: given,
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	w.Close()
	if err != nil {
		return fmt.Errorf("scope: spawn: %w", err)
	}
	r.SetReadDeadline(time.Now().Add(spawnPatience)) // pipes have deadlines
	status, err := io.ReadAll(io.LimitReader(r, maxStatus))
	if err != nil {
		between.Kill()
	}
	between.Wait() // fails only for what is no child
	switch {
	case err != nil || len(status) == 0:
		return fmt.Errorf("%w: %w", ErrUnsure, errors.Join(err, io.ErrUnexpectedEOF))
	case string(status) != spawnStarted:
		return fmt.Errorf("scope: spawn: %s", strings.ToValidUTF8(string(status), "?"))
	}
	return nil
}

// serveSpawn starts what text says, and ends: what it has started falls to the
// process that has all orphans.
func serveSpawn(text string) {
	status := spawnStarted
	if err := spawn(text); err != nil {
		status = err.Error()
	}
	unix.Write(spawnFD, []byte(status))
}

// unmarked is env without runMark.
func unmarked(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, runMark+"=") })
}

func spawn(text string) error {
	if err := unix.CloseRange(spawnFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	var p spawned
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	files := make([]uintptr, p.Files)
	for i := range files {
		files[i] = uintptr(spawnFilesFD + i)
	}
	_, err := syscall.ForkExec(p.Path, p.Args, &syscall.ProcAttr{
		Dir: "/", Env: unmarked(os.Environ()), Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	return err
}
