package audit

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// signing is a pair of keys, and the heads that were signed with it.
type signing struct {
	signer, verifier string
	mu               sync.Mutex
	heads            bytes.Buffer
}

func newSigning(t testing.TB, name string) *signing {
	t.Helper()
	signer, verifier, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	return &signing{signer: signer, verifier: verifier}
}

func (s *signing) Head(_ context.Context, signed []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads.Write(signed)
	return nil
}

func options(dir string) Options {
	return Options{Dir: dir, Key: Key{ID: "k1", Secret: bytes.Repeat([]byte("s"), MinSecretBytes)}}
}

func opened(t testing.TB, o Options) *Log {
	t.Helper()
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func closed(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// calls records so many decisions, from number first on.
func calls(t testing.TB, l *Log, first, n int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		e := Event{Execution: "e1", Call: i, Subject: "local", Capability: "files.read", Decision: Allowed, Arguments: fmt.Appendf(nil, `{"path":"secret-%d"}`, i)}
		if err := l.Record(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
}

// written is a closed log of some calls: its lines, the first of which opens
// it, and the signed heads.
func written(t testing.TB, n int) (lines []string, s *signing) {
	t.Helper()
	s = newSigning(t, "example.com/audit")
	o := options(t.TempDir())
	o.SigningKey, o.Heads = s.signer, s
	l := opened(t, o)
	calls(t, l, 1, n)
	closed(t, l)
	lines = strings.SplitAfter(text(t, o.Dir), "\n")
	return lines[:len(lines)-1], s
}

// text is all files of a log, one after the other.
func text(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(content)
	}
	return b.String()
}

// verified verifies the files of a directory.
func verified(t testing.TB, dir string, o VerifyOptions) (Report, error) {
	t.Helper()
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var sources []Source
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, Source{filepath.Base(name), bytes.NewReader(content)})
	}
	return Verify(sources, o)
}

func verifyText(text string, o VerifyOptions) (Report, error) {
	return Verify([]Source{{"log", strings.NewReader(text)}}, o)
}

func (s *signing) with(keys ...string) VerifyOptions {
	s.mu.Lock()
	defer s.mu.Unlock()
	return VerifyOptions{Heads: bytes.NewReader(bytes.Clone(s.heads.Bytes())), Keys: append(keys, s.verifier)}
}

// eventually waits for what another goroutine does.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	for range 6000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}
