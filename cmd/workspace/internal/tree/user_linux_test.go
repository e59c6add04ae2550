package tree_test

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// unprivileged gives the rest of the test the file accesses of nobody where it
// runs as the superuser, who may read everything. They are the goroutine's, whose
// thread ends with it: what is to be cleaned up is the parent's to clean up.
func unprivileged(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // and never unlocked
	if err := unix.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
}
