//go:build !linux

package approve

import "errors"

var errSystem = errors.New("approve: governed changes need Linux")

// OpenTrustRoot fails: only on Linux is it known who could have written a file.
func OpenTrustRoot(string, ...uint32) (*TrustRoot, error) { return nil, errSystem }

func createPrivate(string, []byte) error { return errSystem }

func readPrivate(string) ([]byte, error) { return nil, errSystem }
