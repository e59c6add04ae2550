//go:build amd64 || arm64

package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/internal/landlock"
)

// What a probe looks for it finds where nothing was entered.
func TestCheckFindsNothingEntered(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := check(own, os.Getpid(), -1); err == nil || !strings.Contains(err.Error(), "is not refused") {
		t.Error(err)
	}
}

// A Landlock that does not know of truncation is found out, though it keeps all files
// from being opened.
func TestProbeTruncates(t *testing.T) {
	if landlock.ABI() < 3 {
		t.Skip("this kernel's Landlock does not refuse it")
	}
	const all = unix.LANDLOCK_ACCESS_FS_TRUNCATE<<1 - 1
	for handled, want := range map[uint64]error{all: unix.EACCES, all &^ unix.LANDLOCK_ACCESS_FS_TRUNCATE: nil} {
		file := nameless()
		if file < 0 {
			t.Skip("no file without a name in /tmp")
		}
		defer unix.Close(file)
		said := make(chan error, 1)
		go func() { // a thread of its own, which ends with it
			runtime.LockOSThread()
			said <- func() error {
				if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
					return err
				}
				attributes := unix.LandlockRulesetAttr{Handled_access_fs: handled}
				fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0)
				if errno != 0 {
					return errno
				}
				defer unix.Close(int(fd))
				if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
					return errno
				}
				if err := opens("/tmp", unix.O_RDONLY); err != unix.EACCES {
					return fmt.Errorf("a directory: %w", err)
				}
				return truncates(file)
			}()
		}()
		if err := <-said; !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%#x: %v, want %v", handled, err, want)
		}
	}
}

// A limit that does not bind is no bound, and one that counts others is none of its
// own.
func TestCountedApart(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // while the limit is low no thread may be started
	tasks, err := os.Open("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	defer tasks.Close()
	want := "is not bounded" // of root
	if os.Geteuid() != 0 {
		want = "processes of others"
		other := exec.Command("/bin/sleep", "1000")
		other.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		defer other.Wait()
		defer other.Process.Kill()
	}
	if err := countedApart(tasks); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// A trial that takes too long says so, and does not count.
func TestProbeBounds(t *testing.T) {
	if err := try(t.Context(), None, Options{Patience: time.Nanosecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	for _, a := range Probe(ended, Options{}) {
		if a.Err == nil {
			t.Errorf("%s was entered by a probe that was called off", a.Tier)
		}
	}
}
