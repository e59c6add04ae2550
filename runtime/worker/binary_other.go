//go:build !linux

package worker

import (
	"errors"
	"os"
)

func openTrusted(string) (*os.File, error) {
	return nil, errors.New("this system cannot run a file as it was opened and checked: use the host's own executable")
}
