package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
)

// BinaryName is what a worker binary is called beside a host's.
const BinaryName = "capgen-worker"

// Binary is a file that workers run, opened once: what is done to its path
// later, or to the file's name, changes nothing. It is safe for concurrent
// use; close it when the last worker has been started.
type Binary struct {
	path   string
	sum    string
	opened *os.File
}

// OpenBinary opens the file at path, which must be absolute, if it can be
// trusted: it and every folder above it belong to root or to this process's
// user and can be written by nobody else, and no part of path is a symbolic
// link. A program that runs it can do what this process's user can, until it
// enters the sandbox.
//
// sum is the SHA-256 of the file in hexadecimal, as the build that made both
// knows it; empty leaves the contents to the file's owner. Only Linux can run
// a file as it was opened: elsewhere this is an error.
func OpenBinary(path, sum string) (*Binary, error) {
	file, err := openTrusted(path)
	if err != nil {
		return nil, fmt.Errorf("worker: binary %s: %w", path, err)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		file.Close()
		return nil, fmt.Errorf("worker: binary %s: %w", path, err)
	}
	b := &Binary{path: path, sum: hex.EncodeToString(hash.Sum(nil)), opened: file}
	if sum != "" && !strings.EqualFold(sum, b.sum) {
		file.Close()
		return nil, fmt.Errorf("worker: binary %s: its SHA-256 is %s, this host was built with %s: install both from the same build", path, b.sum, strings.ToLower(sum))
	}
	return b, nil
}

// Path is where the file was when it was opened.
func (b *Binary) Path() string { return b.path }

// SHA256 is of the file's contents when it was opened, in hexadecimal.
func (b *Binary) SHA256() string { return b.sum }

// Close lets go of the file. Workers that were started live on.
func (b *Binary) Close() error { return b.opened.Close() }
