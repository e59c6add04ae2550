//go:build !unix

package stdoutguard

// divert: there are no descriptors to move.
func divert() int { return -1 }
