package storetest

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/store"
)

// childMode is the first argument that makes a test binary a process that lands
// plan 1 of a place, once it is told to.
const childMode = "land"

// soak is the flag that the tests of each backend define.
func soak() bool {
	f := flag.Lookup("soak")
	return f != nil && f.Value.String() == "true"
}

// Main is the main function of the tests of a backend.
func Main(m *testing.M, b Backend) {
	if len(os.Args) == 5 && os.Args[1] == childMode {
		if err := landInChild(b, os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// What a child says.
const (
	ready     = "ready"   // it has opened the store, and waits for a line
	written   = "written" // it has written everything, and did not commit
	committed = "landed"  // it has landed the plan
	sameKey   = "same"    // its key has landed the plan before
	spent     = "spent"   // another key has
)

// holdAt says where a child stops for ever, to be killed.
const (
	holdNever     = "never"
	holdWritten   = "written"
	holdCommitted = "committed"
)

var landing = store.Scope{Subject: alice, Capability: "files.publish", Step: "apply"}

// landInChild lands plan 1 under a key, and says what came of it.
func landInChild(b Backend, place, key, hold string) error {
	ctx := context.Background()
	s, err := b.Open(ctx, place, store.Options{AuditKey: Key()})
	if err != nil {
		return err
	}
	fmt.Println(ready)
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil && err != io.EOF {
		return err
	}
	answer := committed
	err = s.Update(ctx, func(tx *store.Tx) error {
		err := land(tx, key)
		if err == nil && hold == holdWritten {
			fmt.Println(written)
			select {}
		}
		return err
	})
	switch {
	case errors.Is(err, store.ErrSpent):
		answer = spent
	case errors.Is(err, errSameKey):
		answer = sameKey
	case err != nil:
		return err
	}
	fmt.Println(answer)
	if hold == holdCommitted {
		select {}
	}
	return s.Close()
}

var errSameKey = errors.New("the key has landed the plan before")

// land is what a landing does in one transaction.
func land(tx *store.Tx, key string) error {
	_, known, ok, err := tx.Idempotent(landing, key)
	if err != nil {
		return err
	}
	if ok {
		if _, err := tx.Execution(known); err != nil {
			return err
		}
		return errSameKey
	}
	id := planID(1)
	if err := tx.SpendNonce(nonce(1), "plan", id); err != nil {
		return err
	}
	if err := tx.SpendApproval(store.ApprovalID([]byte("approved")), id); err != nil {
		return err
	}
	if _, err := tx.InsertExecution(id, store.KindChange); err != nil {
		return err
	}
	return errors.Join(tx.RememberKey(landing, key, [32]byte{1}, id), tx.MovePlan(id, store.Prepared, store.Consumed, "", key),
		tx.Audit(audit.Governed{Event: "plan.consumed", Actor: audit.Actor{Kind: audit.ByMCP}, Plan: id}))
}

// child is a process that lands.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
	err   strings.Builder
}

// startChild starts a process, which is ended with the test at the latest.
func startChild(t *testing.T, place, key, hold string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], childMode, place, key, hold)}
	c.cmd.Stderr = &c.err
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.cmd.ProcessState == nil {
			c.kill(t)
		}
	})
	return c
}

// says waits for the next line.
func (c *child) says(t *testing.T) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.cmd.Wait()
		t.Fatalf("a process ended: %v\n%s", c.cmd.ProcessState, c.err.String())
	}
	return strings.TrimSpace(line)
}

// release lets a process that is ready go on.
func (c *child) release(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(c.stdin, "\n"); err != nil {
		t.Fatal(err)
	}
}

// kill ends a process as a power button would, and waits for that.
func (c *child) kill(t *testing.T) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	c.cmd.Wait() // its error is that it was killed
}
