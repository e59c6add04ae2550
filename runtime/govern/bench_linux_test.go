package govern

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/store"
)

// benchDir is a directory for a scene on a real disk.
func benchDir(b *testing.B) (dir string) {
	b.Helper()
	dir = b.TempDir()
	for _, name := range []string{"db", "state", "strategies"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o750); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// onBenchDisk is a scene on a real disk, with a tree where changes land.
func onBenchDisk(b *testing.B) (*scene, string) {
	b.Helper()
	dir := benchDir(b)
	s, err := onDisk(dir, func() error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.db.Close() })
	s.place(b, before)
	return s, dir
}

// measured times one step of each round, and reports it as a ratio to the
// control: to write 4 KiB to a file beside it, and sync that.
func measured(b *testing.B, dir string, round func(n int) (timed func() error)) {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "control"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	var control, took time.Duration
	n := 0
	b.ResetTimer()
	for b.Loop() {
		b.StopTimer()
		timed := round(n)
		n++
		start := time.Now()
		if _, err := f.WriteAt(page, 0); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		control += time.Since(start)
		b.StartTimer()
		start = time.Now()
		if err := timed(); err != nil {
			b.Fatal(err)
		}
		took += time.Since(start)
	}
	b.ReportMetric(float64(took)/float64(control), "fsyncs/op")
}

// content is the tree of a round: three files, one of which is another one each
// time.
func content(n int) map[string]string {
	return map[string]string{"a": fmt.Sprint("round ", n), "lib/c": "c", "lib/d": "d"}
}

func (s *scene) round(b *testing.B, n int) (Prepared, error) {
	return PrepareChange(as("alice"), s.Service, publish, []byte(`{"name":"momentum"}`), fmt.Sprint("k", n), planning(content(n)))
}

func BenchmarkPrepare(b *testing.B) {
	s, dir := onBenchDisk(b)
	measured(b, dir, func(n int) func() error {
		return func() error { _, err := s.round(b, n); return err }
	})
}

// BenchmarkCheck is all that is looked at before a landing begins: plan, token,
// time, approvals, and the tree that is there.
func BenchmarkCheck(b *testing.B) {
	s, dir := onBenchDisk(b)
	p, err := s.round(b, 0)
	if err != nil {
		b.Fatal(err)
	}
	s.approve(b, ada, p.Plan)
	l := landing{Service: s.Service, owner: "oidc:https://issuer.example#alice", terms: publish, claim: claimOf(p)}
	measured(b, dir, func(int) func() error {
		return func() error {
			var a admission
			err := s.db.View(bg(), func(tx *store.Tx) (err error) {
				a, err = l.check(tx, nil)
				return err
			})
			if err != nil {
				return err
			}
			return s.unchanged(bg(), a.plan)
		}
	})
}

func BenchmarkLand(b *testing.B) {
	s, dir := onBenchDisk(b)
	measured(b, dir, func(n int) func() error {
		p, err := s.round(b, n)
		if err != nil {
			b.Fatal(err)
		}
		s.approve(b, ada, p.Plan)
		claim := claimOf(p)
		claim.Key = p.Plan
		return func() error { _, err := ApplyChange(as("alice"), s.Service, publish, claim); return err }
	})
}
