//go:build !unix

package host

import (
	"os"
)

// streams are the standard streams that only Main knows.
type streams struct{ in, out *os.File }

// claim takes standard input and output away from Go code. What writes to the
// system's own handle still reaches the client here.
func claim() (streams, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return streams{}, err
	}
	s := streams{in: os.Stdin, out: os.Stdout}
	os.Stdin, os.Stdout = null, os.Stderr
	return s, nil
}
