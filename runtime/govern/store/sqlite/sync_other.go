//go:build !unix

package sqlite

// syncDir does nothing where directories cannot be synced.
func syncDir(string) error { return nil }
