package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// MemoryVariable is what a supervisor appends to the environment of a Worker
// runner: how many bytes it may use, in decimal digits. That stands for the limits
// of setrlimit(2) on memory and processes, which a Go process cannot start with.
const MemoryVariable = "CAPGEN_RUN_MEMORY"

// What a Worker runner ends with; zero where there is a result.
const (
	// ExitProgram: the program failed. Standard error says where and of what.
	ExitProgram = 1
	// ExitLimit: the program did not get by with what it may use.
	ExitLimit = 2
	// ExitBox: the box or the sandbox is not as it has to be; nothing of the
	// program has run.
	ExitBox = 3
)

// Runner is a program that runs candidates. All of it is the host's.
type Runner struct {
	// Name is what manifests say, as in starlark.
	Name string
	// Path is the absolute path of the executable.
	Path string
	// Args begin with the name that it goes by, and have the entry's path in the
	// box; Env is the whole environment, each NAME=value.
	Args, Env []string
	// Read are absolute paths of what it has to read and execute beside the box.
	Read []string
	// Entry is the path that one of a candidate's files must have.
	Entry string
	// Worker tells that the process confines itself before it looks at the
	// candidate, which is no native code.
	Worker bool
	// Note says in a line what it is, as in "Python 3.11.7".
	Note string
}

// Identity is a runner as a plan freezes it.
type Identity struct {
	Name string
	// Path is of the file itself: no part of it is a link.
	Path            string
	SHA256          string // of the file, in hexadecimal
	Args, Env, Read []string
	Entry           string
	Worker          bool
}

var (
	// ErrUnsupported is the error where this system cannot have a runner.
	ErrUnsupported = errors.New("runner: not on this system")
	// ErrChanged is the error for an executable that is not the one it was.
	ErrChanged = errors.New("runner: the executable is not the one that was approved")
)

var validName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// Check refuses a runner that makes no sense.
func (r Runner) Check() error {
	switch {
	case !validName.MatchString(r.Name):
		return fmt.Errorf("runner: a name is of small letters, digits and _, not %q", r.Name)
	case !filepath.IsAbs(r.Path):
		return fmt.Errorf("runner %s: the path %q is not absolute", r.Name, r.Path)
	case len(r.Args) == 0:
		return fmt.Errorf("runner %s: no name to go by", r.Name)
	case !filepath.IsLocal(r.Entry):
		return fmt.Errorf("runner %s: the entry %q is no path below a directory", r.Name, r.Entry)
	}
	for _, text := range slices.Concat(r.Args, r.Env, r.Read) {
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("runner %s: a NUL in %q", r.Name, text)
		}
	}
	for _, variable := range r.Env {
		if name, _, ok := strings.Cut(variable, "="); !ok || name == "" {
			return fmt.Errorf("runner %s: %q is no variable of an environment", r.Name, variable)
		}
	}
	for _, path := range r.Read {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return fmt.Errorf("runner %s: the path %q is not absolute and clean", r.Name, path)
		}
	}
	return nil
}

// Identify reads the executable, and refuses one that somebody else than root and
// this account can write or replace, or that is a script. It takes as long as a hash of the
// file does.
func (r Runner) Identify() (Identity, error) {
	if err := r.Check(); err != nil {
		return Identity{}, err
	}
	path, err := settled(r.Path)
	if err != nil {
		return Identity{}, fmt.Errorf("runner %s: %w", r.Name, err)
	}
	digest, err := digestOf(path)
	if err != nil {
		return Identity{}, fmt.Errorf("runner %s: %w", r.Name, err)
	}
	return Identity{r.Name, path, digest, slices.Clone(r.Args), slices.Clone(r.Env), slices.Clone(r.Read), r.Entry, r.Worker}, nil
}

// Check returns [ErrChanged] if the executable is not there any more as it was.
func (i Identity) Check() error {
	digest, err := digestOf(i.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: %s is gone", ErrChanged, i.Name)
	case err != nil:
		return fmt.Errorf("runner %s: %w", i.Name, err)
	case digest != i.SHA256:
		return fmt.Errorf("%w: %s", ErrChanged, i.Name)
	}
	return nil
}

// digestOf is the SHA-256 of the file at path, in hexadecimal, which is looked at
// after it was opened. No part of the path may be a link.
func digestOf(path string) (string, error) {
	if real, err := settled(path); err != nil {
		return "", err
	} else if real != path {
		return "", fmt.Errorf("%s is %s by a link", path, real)
	}
	f, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	if err := owned(info); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	hash := sha256.New()
	var start [2]byte
	switch _, err := io.ReadFull(f, start[:]); {
	case err != nil:
		return "", fmt.Errorf("%s: %w", path, err)
	case string(start[:]) == "#!":
		return "", fmt.Errorf("%s is a script: name the program that runs it", path)
	}
	hash.Write(start[:])
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
