package results

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
)

func person(name string) authz.Subject {
	return authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: name}
}

func put(t *testing.T, s *Store, subject authz.Subject, text []byte) string {
	t.Helper()
	id, err := s.Put(subject, text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func shared(t *testing.T) (one, two *Store, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "results")
	var err error
	if one, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	if two, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	return one, two, dir
}

// What one process keeps, each that shares the directory finds, for its
// subject alone.
func TestResultsBelongToASubject(t *testing.T) {
	one, two, _ := shared(t)
	text := []byte(`{"a":[1,2]}`)
	id := put(t, one, person("ann"), text)
	for _, s := range []*Store{one, two} {
		if got, err := s.Get(person("ann"), id); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s, %v", got, err)
		}
		for _, other := range []authz.Subject{person("bob"), authz.Local(), authz.Demo(), {}, {Kind: authz.KindOIDC, Issuer: "https://other.example", ID: "ann"}} {
			if _, err := s.Get(other, id); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %v", other, err)
			}
		}
		for _, id := range []string{"", strings.Repeat("0", 32), strings.ToUpper(id), id + " ", "../" + id, id + "." + hash(person("ann")), id[:31]} {
			if _, err := s.Get(person("ann"), id); !errors.Is(err, ErrNotFound) {
				t.Errorf("id %q: %v", id, err)
			}
		}
	}
	if again := put(t, two, person("ann"), text); again == id || !isID.MatchString(again) {
		t.Errorf("ids %s and %s", id, again)
	}
	if _, err := one.Put(authz.Subject{}, text); !errors.Is(err, authz.ErrUnauthenticated) {
		t.Errorf("nobody keeps something: %v", err)
	}
}

func TestResultsExpire(t *testing.T) {
	one, two, dir := shared(t)
	id := put(t, one, person("ann"), []byte("1"))
	for _, tt := range []struct {
		later time.Duration
		found bool
	}{{0, true}, {Keep - time.Second, true}, {Keep + time.Second, false}, {-30 * time.Second, true}, {-time.Hour, false}} {
		two.now = func() time.Time { return time.Now().Add(tt.later) }
		if _, err := two.Get(person("ann"), id); (err == nil) != tt.found {
			t.Errorf("%v later: %v", tt.later, err)
		}
	}
	two.now = func() time.Time { return time.Now().Add(Keep + time.Second) }
	if all, err := two.list(); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestRoom(t *testing.T) {
	one, two, _ := shared(t)
	const part = 5 << 20
	text := make([]byte, part)
	var ids []string
	for range 4 { // the fourth makes the first leave
		ids = append(ids, put(t, one, person("ann"), text))
		time.Sleep(10 * time.Millisecond) // file times tell the oldest
	}
	for i, id := range ids {
		if _, err := two.Get(person("ann"), id); (err == nil) != (i > 0) {
			t.Errorf("result %d: %v", i, err)
		}
	}
	if _, err := one.Put(person("ann"), make([]byte, MaxBytesPerSubject+1)); !errors.Is(err, ErrFull) {
		t.Errorf("more than a subject's share: %v", err)
	}
	for _, name := range []string{"b", "c", "d"} {
		for range 3 {
			put(t, two, person(name), text)
		}
	}
	// 60 of 64 MiB are taken: who has nothing cannot displace others.
	if _, err := one.Put(person("eve"), text); !errors.Is(err, ErrFull) {
		t.Errorf("beyond all room: %v", err)
	}
	if _, err := one.Get(person("ann"), ids[3]); err != nil {
		t.Errorf("another's result made one leave: %v", err)
	}
	put(t, one, person("ann"), text) // but one's own makes room for oneself
}

func TestPrivateStore(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := Private()
	if _, err := s.Get(person("ann"), strings.Repeat("0", 32)); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) != 0 {
		t.Errorf("touched the disk for nothing: %v", left)
	}
	id := put(t, s, person("ann"), []byte("1"))
	files, err := filepath.Glob(filepath.Join(os.TempDir(), "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for _, name := range []string{files[0], filepath.Dir(files[0])} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := s.Get(person("ann"), id); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := s.Put(person("ann"), nil); err == nil {
		t.Error("kept after Close")
	}
}

func TestDirectoryMustBelongToThisUser(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"group": 0o750, "world": 0o701} {
		sub := filepath.Join(dir, name)
		if err := os.Mkdir(sub, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(sub, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(sub); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, link, filepath.Join(dir, "none", "none")} {
		if _, err := Open(name); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	one, two, _ := shared(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			s, other := one, two
			if i%2 == 0 {
				s, other = two, one
			}
			text := bytes.Repeat([]byte{'a'}, 1000+i)
			id, err := s.Put(person("ann"), text)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := other.Get(person("ann"), id); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	all.Wait()
}
