package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	goruntime "runtime"
	"strings"
)

// tokenVariable holds the shared token itself. There is no flag for it: other
// users of a machine can read the command line of a process.
const tokenVariable = "CAPGEN_TOKEN"

// maxTokenFile bounds what is read of a token file.
const maxTokenFile = 16 << 10

// sharedToken is the token of the file or of the variable, and whether either
// is there. A variable that is set counts also when it is empty: a deployment
// that lost its secret must not serve everybody.
func sharedToken(file string, lookup func(string) (string, bool)) (token string, given bool, err error) {
	token, given = lookup(tokenVariable)
	switch {
	case file == "":
		return token, given, nil
	case given:
		return "", true, fmt.Errorf("%s and a token file are both given: one token is meant to be the one", tokenVariable)
	}
	token, err = readToken(file)
	return token, true, err
}

// readToken reads a file that only its owner, and at most a group, can read,
// and only its owner can change. A line end behind the token is no part of it.
func readToken(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat() // of what was opened, not of what the name leads to by then
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("token file %s: not a regular file", name)
	}
	if wide := info.Mode().Perm() & forbidden(); wide != 0 {
		return "", fmt.Errorf("token file %s: its mode is %04o, and others may read or change it: chmod 600", name, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("token file: %w", err)
	case len(text) > maxTokenFile:
		return "", errors.New("token file: larger than any token")
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

// forbidden are the bits of a token file's mode that must not be set: all for
// others, and all but reading for the group. Windows has no such bits.
func forbidden() fs.FileMode {
	if goruntime.GOOS == "windows" {
		return 0
	}
	return 0o037
}
