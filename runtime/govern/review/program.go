package review

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// MaxProgramBytes bounds a program that Program reads.
const MaxProgramBytes = 1 << 30

// Program is the SHA-256 of the program at a path, as it is read now. It waits
// for nothing that is not a file.
func Program(path string) (sum [32]byte, err error) {
	if !filepath.IsAbs(path) {
		return sum, errors.New("its path is not absolute")
	}
	// A pipe, or a device, would have the reader wait.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return sum, err
	case !info.Mode().IsRegular():
		return sum, errors.New("it is no file")
	case info.Size() > MaxProgramBytes:
		return sum, fmt.Errorf("it has more than %d bytes", MaxProgramBytes)
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, MaxProgramBytes))
	switch {
	case err != nil:
		return sum, err
	case n != info.Size():
		return sum, errors.New("it changes while it is read")
	}
	return [32]byte(h.Sum(nil)), nil
}
