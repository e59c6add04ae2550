package scope

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A process is itself while it lives, and nothing once it has ended, waited for
// or not.
func TestIdentity(t *testing.T) {
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	full, err := Identify(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	bare := full
	bare.File = nil
	elsewhere := full
	elsewhere.Boot = "another"
	later := bare
	later.Start++
	open := func(i Identity, want error) {
		t.Helper()
		p, err := i.Open()
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%+v: %v, want %v", i, err, want)
		}
		if err == nil {
			p.Close()
		}
	}
	if full.File == nil {
		t.Log("this kernel has no handles of pidfds")
	}
	open(full, nil)
	open(bare, nil)
	open(elsewhere, ErrGone)
	open(later, ErrGone)
	p, err := bare.Open()
	if err != nil {
		t.Fatal(err)
	}
	if p.Dead() {
		t.Error("dead while it lives")
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.Await(soon(t)); err != nil {
		t.Fatal(err)
	}
	open(full, ErrGone) // a zombie
	open(bare, ErrGone)
	c.Wait()
	open(full, ErrGone)
	open(bare, ErrGone)
	if err := p.Kill(); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	p.Close()
}

// Where nothing may be opened by a handle, which some filters refuse that let
// handles be told, a process is known by its start.
func TestHandlesRefused(t *testing.T) {
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	full, err := Identify(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if full.File == nil {
		t.Skip("this kernel has no handles of pidfds")
	}
	for _, errno := range []syscall.Errno{unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EOPNOTSUPP} {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // which ends with this goroutine, and the filter with it
			done <- func() error {
				if err := refuse(unix.SYS_OPEN_BY_HANDLE_AT, errno); err != nil {
					return err
				}
				p, err := full.Open()
				if err != nil {
					return err
				}
				p.Close()
				other := full
				other.Start++
				if _, err := other.Open(); !errors.Is(err, ErrGone) {
					return fmt.Errorf("another start: %v", err)
				}
				bare, err := Identify(c.Process.Pid)
				if err == nil && bare.File != nil {
					err = errors.New("it keeps a handle that cannot be opened")
				}
				return err
			}()
		}()
		if err := <-done; err != nil {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

// refuse has the kernel answer a system call of this thread with an error.
func refuse(number uint32, errno syscall.Errno) error {
	code := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, failed := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(code)
	if failed != 0 {
		return failed
	}
	return nil
}

// reuses is how often a recovery meets the reused number.
const reuses = 1000

// A canary gets the number of a process that has ended, and lives through a
// thousand recoveries of that process's scope. It all happens in a namespace,
// where numbers are given by the one who asks for them.
func TestReusedNumber(t *testing.T) {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), helperMark+"=reuse")
	var out, stderr strings.Builder
	c.Stdout, c.Stderr = &out, &stderr
	c.SysProcAttr = attributes(Namespace)
	c.SysProcAttr.Cloneflags |= unix.CLONE_NEWNS
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if reason, skip := strings.CutPrefix(out.String(), "skip "); skip {
		t.Skip(reason)
	}
	if want := fmt.Sprintf("%d recoveries", 2*reuses); strings.TrimSpace(out.String()) != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
}

// reuse is what runs in the namespace.
func reuse(out io.Writer) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return skip(out, err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return skip(out, err)
	}
	victim := exec.Command("sleep", "1000")
	if err := victim.Start(); err != nil {
		return err
	}
	number := victim.Process.Pid
	full, err := Identify(number)
	if err != nil {
		return err
	}
	time.Sleep(50 * time.Millisecond) // start times are of a hundredth of a second
	victim.Process.Kill()
	victim.Wait()
	var canary *exec.Cmd
	for range 100 {
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(number-1)), 0); err != nil {
			return skip(out, err)
		}
		canary = exec.Command("sleep", "1000")
		if err := canary.Start(); err != nil {
			return err
		}
		if canary.Process.Pid == number {
			break
		}
		canary.Process.Kill() // a thread of this process was faster
		canary.Wait()
	}
	if canary.Process.Pid != number {
		return skip(out, errors.New("the number is not given again"))
	}
	bare := full
	bare.File = nil
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	done := 0
	for range reuses {
		for _, i := range []Identity{full, bare} {
			if _, err := i.Open(); !errors.Is(err, ErrGone) {
				return fmt.Errorf("the canary is taken for another: %v", err)
			}
			h := Handle{Tier: Namespace, Keeper: i}
			if err := h.End(ctx, func() (bool, error) { return false, nil }); err != nil {
				return err
			}
			if err := canary.Process.Signal(syscall.Signal(0)); err != nil {
				return fmt.Errorf("after %d recoveries: %w", done, err)
			}
			done++
		}
	}
	own, err := Identify(number)
	if err != nil {
		return err
	}
	if err := (Handle{Tier: Namespace, Keeper: own}).End(ctx, nil); err != nil {
		return err
	}
	if err := canary.Wait(); err == nil {
		return errors.New("by its own identity it is not killed either")
	}
	_, err = fmt.Fprintf(out, "%d recoveries", done)
	return err
}

func skip(out io.Writer, err error) error {
	_, err = fmt.Fprintf(out, "skip %v", err)
	return err
}
