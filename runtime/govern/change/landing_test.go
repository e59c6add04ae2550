package change

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/root"
)

// meddler is a directory in which somebody else acts right before a name is
// given away.
type meddler struct {
	root.Dir
	act func(root.Dir)
}

func (m *meddler) meddle() {
	if act := m.act; act != nil {
		m.act = nil
		act(m.Dir)
	}
}

func (m *meddler) Exchange(a, b string) error {
	m.meddle()
	return m.Dir.Exchange(a, b)
}

func (m *meddler) Move(from, to string) error {
	m.meddle()
	return m.Dir.Move(from, to)
}

func writeFile(t testing.TB, d root.Dir, name, content string) {
	t.Helper()
	f, err := d.Create(name, 0o600)
	if err == nil {
		_, err = f.Write([]byte(content))
		err = errors.Join(err, f.Sync(), f.Close(), d.Sync())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestThirdWriter: somebody who writes the target between the check and the
// exchange keeps what they wrote, and the landing ends in a conflict.
func TestThirdWriter(t *testing.T) {
	for _, c := range []struct {
		name  string
		there map[string]string
		act   func(testing.TB, root.Dir)
		left  string
	}{
		{"writes into it", before, func(t testing.TB, d root.Dir) { writeFile(t, openDir(t, d, "t"), "mine", "x") }, "t"},
		{"changes its mode", before, func(t testing.TB, d root.Dir) { openDir(t, d, "t").SetMode(0o700) }, "t"},
		{"removes an empty directory", map[string]string{"none/": ""}, func(t testing.TB, d root.Dir) { openDir(t, d, "t").Remove("none") }, "t"},
		{"moves it away", before, func(t testing.TB, d root.Dir) { d.Move("t", "elsewhere") }, "elsewhere"},
		{"makes it", nil, func(t testing.TB, d root.Dir) { makeDir(t, d, "t") }, "t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, c.there, after)
			d := s.landing.Parent
			var theirs Hash
			s.landing.Parent = &meddler{d, func(d root.Dir) {
				c.act(t, d)
				theirs = hash(t, d, c.left)
			}}
			state, err := s.landing.Land(t.Context(), s.blobs, s.journal)
			if !errors.Is(err, ErrConflict) || state != Conflict || s.journal.state != Conflict {
				t.Fatalf("%s, %v", state, err)
			}
			if got := names(t, d); got != c.left {
				t.Errorf("left %s", got)
			}
			if hash(t, d, c.left) != theirs {
				t.Error("what they wrote is not there")
			}
			if state, err := s.landing.Land(t.Context(), s.blobs, s.journal); state != Conflict || !errors.Is(err, ErrConflict) {
				t.Errorf("once more: %s, %v", state, err)
			}
		})
	}
}

// TestThirdWriterAndPowerLoss: the same, and the power fails at any step of it.
func TestThirdWriterAndPowerLoss(t *testing.T) {
	for n := 1; ; n++ {
		s := newScene(t, before, map[string]string{"a": "new"})
		var theirs Hash
		d := s.landing.Parent
		s.landing.Parent = &meddler{d, func(root.Dir) {
			s.disk.StopAt(0)
			writeFile(t, openDir(t, d, "t"), "mine", "x")
			theirs = hash(t, d, "t")
			s.disk.StopAt(n)
		}}
		_, err := s.landing.Land(t.Context(), s.blobs, s.journal)
		if errors.Is(err, ErrConflict) {
			if n < 5 {
				t.Errorf("only %d steps", n)
			}
			return
		}
		s.landing.Parent = d
		for after := range s.disk.Crashes() {
			found := s.on(t, after)
			state, err := found.landing.Land(t.Context(), found.blobs, found.journal)
			if state != Conflict || hash(t, found.landing.Parent, "t") != theirs || names(t, found.landing.Parent) != "t" {
				t.Fatalf("stopped at step %d: %s, %v, left %s", n, state, err, names(t, found.landing.Parent))
			}
		}
	}
}

func TestDecide(t *testing.T) {
	post := Tree{Present: true, Mode: 0o700}
	pre, other, absent := Hash{1}, Hash{2}, Absent.Hash()
	l := Landing{Pre: pre, Post: post}
	fresh := Landing{Pre: absent, Post: post}
	p := post.Hash()
	for _, c := range []struct {
		name           string
		landing        Landing
		state          State
		target, beside Hash
		want           step
	}{
		{"nothing is staged", l, Intent, pre, absent, build},
		{"some is staged", l, Intent, pre, other, build},
		{"all is staged", l, Intent, pre, p, staged},
		{"somebody wrote first", l, Intent, other, p, conflict},
		{"somebody wrote the same first", l, Intent, p, absent, conflict},
		{"the stage is complete", l, Staged, pre, p, swap},
		{"the stage is gone", l, Staged, pre, absent, build},
		{"the stage was written to", l, Staged, pre, other, build},
		{"exchanged", l, Staged, p, pre, applied},
		{"exchanged with another tree", l, Staged, p, other, swapBack},
		{"exchanged with a tree nobody can read", l, Staged, p, unreadable, swapBack},
		{"what was displaced is gone", l, Staged, p, absent, conflict},
		{"another tree is there", l, Staged, other, p, conflict},
		{"neither is there", l, Staged, absent, absent, conflict},
		{"placed where nothing was", fresh, Staged, p, absent, applied},
		{"not yet placed where nothing was", fresh, Staged, absent, p, swap},
		{"somebody was first where nothing was", fresh, Staged, other, p, conflict},
		{"applied", l, Applied, other, other, finished},
		{"cleaned", l, Cleaned, other, other, finished},
		{"aborted", l, Aborted, pre, absent, finished},
		{"in conflict", l, Conflict, pre, p, finished},
	} {
		if got := c.landing.decide(c.state, found{c.target, c.beside}); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestAbort(t *testing.T) {
	s := newScene(t, before, after)
	// An aborted landing leaves the old tree, and nothing beside it.
	if err := stage(s.landing.Parent, s.landing.Beside(), s.landing.Post, s.blobs); err != nil {
		t.Fatal(err)
	}
	if state, err := s.landing.Abort(t.Context(), s.journal); state != Aborted || err != nil {
		t.Fatal(state, err)
	}
	if names(t, s.landing.Parent) != "t" || hash(t, s.landing.Parent, "t") != s.landing.Pre {
		t.Error("something is visible of it")
	}
	if state, err := s.landing.Land(t.Context(), s.blobs, s.journal); state != Aborted || err == nil {
		t.Error("landed after all:", state, err)
	}
	// An applied one is not aborted.
	s = newScene(t, before, after)
	if _, err := s.landing.Land(t.Context(), s.blobs, s.journal); err != nil {
		t.Fatal(err)
	}
	if state, err := s.landing.Abort(t.Context(), s.journal); state != Applied || err != nil {
		t.Error(state, err)
	}
}

func TestLandWaitsForTheLock(t *testing.T) {
	s := newScene(t, before, after)
	unlock, err := s.landing.Parent.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.landing.Land(ctx, s.blobs, s.journal); !errors.Is(err, context.Canceled) || s.journal.state != Intent {
		t.Errorf("%s, %v", s.journal.state, err)
	}
	unlock()
	if state, err := s.landing.Land(t.Context(), s.blobs, s.journal); state != Applied || err != nil {
		t.Error(state, err)
	}
}

// TestBlobGone: without its content nothing is staged, and the landing can be
// taken up once it is there.
func TestBlobGone(t *testing.T) {
	s := newScene(t, before, after)
	if _, err := s.blobs.Sweep(func(cas.Digest) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if state, err := s.landing.Land(t.Context(), s.blobs, s.journal); state != Intent || !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(state, err)
	}
	treeOf(t, s.blobs, after)
	if state, err := s.landing.Land(t.Context(), s.blobs, s.journal); state != Applied || err != nil {
		t.Error(state, err)
	}
}

func TestLandingCheck(t *testing.T) {
	post := Tree{Present: true, Mode: 0o700}
	good := Landing{Name: "t", ID: "x1", Pre: Absent.Hash(), Post: post}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Landing){
		"no id":            func(l *Landing) { l.ID = "" },
		"an id with a dot": func(l *Landing) { l.ID = "../x" },
		"a path":           func(l *Landing) { l.Name = "a/b" },
		"no directory":     func(l *Landing) { l.Post = Absent },
		"no change":        func(l *Landing) { l.Pre = post.Hash() },
		"no pre":           func(l *Landing) { l.Pre = Hash{} },
		"a bad tree":       func(l *Landing) { l.Post.Nodes = []Node{{Path: "../x"}} },
	} {
		l := good
		spoil(&l)
		if err := l.Check(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
