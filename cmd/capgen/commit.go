package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

const (
	// gitTime bounds one run of git.
	gitTime = 30 * time.Second
	// maxRef is how long a name of a commit may be, in bytes.
	maxRef = 256
)

// commit reads files as they were in a commit, by git's plumbing: nothing is
// checked out, and no hook, filter or textconv of the repository runs.
type commit struct {
	ctx context.Context
	// dir is where git runs; prefix is how that folder is called in the
	// repository, with a slash at its end, or empty at its top.
	dir, id, prefix string
}

// openCommit finds the commit that ref names in the repository of dir.
func openCommit(ctx context.Context, dir, ref string) (*commit, error) {
	g := &commit{ctx: ctx, dir: dir}
	// git would take a ref that begins with - for an option, and has more ways
	// to name objects than commits have.
	if ref == "" || len(ref) > maxRef || strings.HasPrefix(ref, "-") || strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ':' }) {
		return nil, fmt.Errorf("git:%s names no commit: give a branch, a tag or a hash", visible.Text(ref))
	}
	out, err := g.git("rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	g.prefix = strings.TrimSuffix(string(out), "\n")
	// A tag wins over a branch of the same name, and origin/main may be a tag:
	// who may push one would choose what a change is compared with.
	out, warning, err := g.run("-c", "core.warnAmbiguousRefs=true", "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("git:%s names no commit that is here: fetch it first, with fetch-depth: 0 in a workflow of GitHub", visible.Text(ref))
	}
	if strings.Contains(warning, "is ambiguous") {
		return nil, fmt.Errorf("git:%s names several things: write it in full, as refs/heads/NAME, refs/remotes/origin/NAME or refs/tags/NAME", visible.Text(ref))
	}
	g.id = strings.TrimSpace(string(out))
	return g, nil
}

// read is the content of a file, by its path below dir.
func (g *commit) read(name string) ([]byte, error) {
	entry, err := g.git("ls-tree", "-z", "-l", "--full-tree", g.id, "--", g.prefix+name)
	if err != nil {
		return nil, err
	}
	meta, _, ok := strings.Cut(string(entry), "\t")
	fields := strings.Fields(meta)
	switch {
	case !ok || len(fields) != 4:
		return nil, fs.ErrNotExist
	case fields[0] == "120000":
		return nil, errors.New("a link, which is not followed in a commit")
	case fields[1] != "blob":
		return nil, errors.New("not a regular file")
	}
	if size, err := strconv.ParseInt(fields[3], 10, 64); err != nil || size > schema.MaxFileBytes {
		return make([]byte, schema.MaxFileBytes+1), nil // which the loader finds too large
	}
	return g.git("cat-file", "blob", fields[2])
}

// git runs one command that reads the repository and nothing else: it asks
// nobody, fetches nothing, and takes no replacement for an object.
func (g *commit) git(args ...string) ([]byte, error) {
	out, _, err := g.run(args...)
	return out, err
}

// run is git, with what it says beside.
func (g *commit) run(args ...string) (out []byte, warning string, err error) {
	ctx, cancel := context.WithTimeout(g.ctx, gitTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-replace-objects", "--literal-pathspecs", "--no-optional-locks"}, args...)...)
	cmd.Dir = g.dir
	cmd.Env = append(cmd.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	switch err := cmd.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return nil, "", errors.New("git is not installed: compare with a file or a folder instead")
	case err != nil:
		line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return nil, "", fmt.Errorf("git %s: %w: %s", args[0], err, visible.Text(line[:min(len(line), 200)]))
	}
	return stdout.Bytes(), stderr.String(), nil
}
