package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// head is a head of a log, signed.
func (s *signing) head(t *testing.T, log string, seq uint64, hash byte) []byte {
	t.Helper()
	signer, err := note.NewSigner(s.signer)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := head{log: log, seq: seq, hash: digest{hash}, at: time.Unix(1, 0)}.sign(signer)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func (s *signing) verifiers(t *testing.T) note.Verifiers {
	t.Helper()
	v, err := note.NewVerifier(s.verifier)
	if err != nil {
		t.Fatal(err)
	}
	return note.VerifierList(v)
}

func TestKeepHeads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heads")
	s, other := newSigning(t, "log"), newSigning(t, "log")
	keep := func() HeadSink {
		t.Helper()
		k, err := KeepHeads(path, s.verifiers(t))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for _, c := range []struct {
		name string
		head []byte
		want string
	}{
		{"the first", s.head(t, "a", 5, 5), ""},
		{"a later one", s.head(t, "a", 9, 9), ""},
		{"the same", s.head(t, "a", 9, 9), ""},
		{"of a log written anew", s.head(t, "a", 9, 8), "two differ about record 9"},
		{"of a log that was cut", s.head(t, "a", 8, 8), "it is of record 8, and one of record 9 is here"},
		{"of another log", s.head(t, "b", 10, 10), "of another log"},
		{"of another key", other.head(t, "a", 10, 10), "keep a head"},
		{"not a head", []byte("x"), "keep a head"},
		{"the next", s.head(t, "a", 10, 10), ""},
	} {
		// A keeper that begins anew knows as much.
		for range 2 {
			err := keep().Head(context.Background(), c.head)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), headBegins) != 3 {
		t.Errorf("it keeps %s, %v", text, err)
	}
	if _, err := KeepHeads(path, other.verifiers(t)); !errors.Is(err, ErrNotSigned) {
		t.Errorf("heads of another key are taken up: %v", err)
	}
}

// The file stays within its bound, and the last head in it.
func TestKeptHeadsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heads")
	s := newSigning(t, "log")
	first := s.head(t, "a", 1, 1)
	if err := os.WriteFile(path, []byte(strings.Repeat(string(first), maxKept/len(first))), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := KeepHeads(path, s.verifiers(t))
	if err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(20) {
		if err := k.Head(context.Background(), s.head(t, "a", seq+2, byte(seq))); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() > maxKept {
			t.Fatalf("%d bytes, %v", info.Size(), err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) > maxKept*3/4 || !strings.HasPrefix(string(text), headBegins) || !strings.Contains(string(text), fmt.Sprintf("\n%d\n", 21)) {
		t.Errorf("it keeps %d bytes, %v", len(text), err)
	}
	if err := k.Head(context.Background(), s.head(t, "a", 20, 9)); err == nil {
		t.Error("it has forgotten the last")
	}
}
