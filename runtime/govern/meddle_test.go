package govern

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
)

// TestThirdWriter: somebody who writes to the target at any step of a landing
// keeps what they wrote, or comes after it; never is it half of both.
func TestThirdWriter(t *testing.T) {
	conflicts, landed := 0, 0
	for n := 1; ; n++ {
		s := newScene(t, scenery{})
		s.place(t, little)
		p := s.prepareChange(t)
		s.approve(t, ada, p.Plan)
		theirs := map[string]string{"a": "theirs"}
		steps, wrote := 0, false
		meddle := func() error {
			if steps++; steps == n {
				wrote = true
				return errors.Join(s.roots.Move("momentum", "away"), place(s.roots, "momentum", theirs))
			}
			return nil
		}
		s.o.Roots["strategies"] = fault.Stepped(s.roots, meddle)
		_, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p))
		if !wrote {
			break
		}
		switch there := s.there(t); {
		case err != nil && code(err) == StaleState && there == treeHash(t, theirs):
			conflicts++
			if v, err := s.Status(as("alice"), p.Plan); err != nil || v.State != "conflict" {
				t.Errorf("step %d: %+v, %v", n, v, err)
			}
			if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); code(err) != StaleState || s.there(t) != treeHash(t, theirs) {
				t.Errorf("step %d, again: %v", n, err)
			}
		case err == nil && (there == treeHash(t, theirs) || there == treeHash(t, after)):
			landed++
		default:
			t.Errorf("step %d: %v, and something else is there", n, err)
		}
		if got := strings.ReplaceAll(s.names(t), "away ", ""); got != "momentum" {
			t.Errorf("step %d: left %s", n, got)
		}
	}
	if conflicts < 5 || landed < 1 {
		t.Errorf("%d conflicts, %d landed", conflicts, landed)
	}
}

// full is a directory on a disk that is full at one write.
func full(d root.Dir, left *int) root.Dir {
	return fault.Stepped(d, func() error {
		if *left--; *left == 0 {
			return &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
		}
		return nil
	})
}

// TestDiskFull: whichever write finds the disk full, the old tree is there or the
// new one, and once there is room the same key lands the same plan.
func TestDiskFull(t *testing.T) {
	singleThreaded(t)
	seen := 0
	for n := 1; ; n++ {
		s := newScene(t, scenery{})
		s.place(t, little)
		left := n
		s.objects = full(s.objects, &left)
		s.blobs = cas.New(s.objects)
		s.o.Roots["strategies"] = full(s.roots, &left)
		s.step = func() error {
			if left--; left == 0 {
				return fmt.Errorf("commit: %w", syscall.ENOSPC)
			}
			return nil
		}
		y := &story{}
		err := y.tell(s)
		if left > 0 {
			if err != nil || n < 25 {
				t.Errorf("%d writes, %v", n, err)
			}
			break
		}
		if err != nil {
			if seen++; code(err) != Full {
				t.Errorf("write %d: %v", n, err)
			}
		}
		if there := s.there(t); there != treeHash(t, little) && there != treeHash(t, other) {
			t.Errorf("write %d: something else is there", n)
		}
		if err := y.tell(s); err != nil || s.there(t) != treeHash(t, other) {
			t.Errorf("write %d, again: %v", n, err)
		}
		s.Recover(bg())
		if s.names(t) != "momentum" {
			t.Errorf("write %d: left %s", n, s.names(t))
		}
	}
	if seen < 15 {
		t.Errorf("only %d times full", seen)
	}
}

// TestLandedIsWhatWasShown: whatever layer between what an approver saw and what
// lands says something else, nothing lands.
func TestLandedIsWhatWasShown(t *testing.T) {
	rewrite := func(t *testing.T, d root.Dir, name string, content []byte) {
		t.Helper()
		if err := d.Remove(name); err != nil {
			t.Fatal(err)
		}
		f, err := d.Create(name, 0o600)
		if err == nil {
			_, err = f.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	object := func(content string) string { return cas.Of([]byte(content)).String() }
	for name, spoil := range map[string]func(t *testing.T, s *scene, p Prepared, parsed plan.Plan){
		"a file's object": func(t *testing.T, s *scene, _ Prepared, _ plan.Plan) {
			rewrite(t, s.objects, object("new"), []byte("bad"))
		},
		"a file's object, gone": func(t *testing.T, s *scene, _ Prepared, _ plan.Plan) { s.objects.Remove(object("new")) },
		"the tree's text": func(t *testing.T, s *scene, _ Prepared, p plan.Plan) {
			bad, contents, _ := treeOf(files(map[string]string{"a": "bad"}))
			for _, c := range contents {
				if _, err := s.blobs.Put(c); err != nil {
					t.Fatal(err)
				}
			}
			rewrite(t, s.objects, p.Change.Post.String(), bad.AppendCanonical(nil))
		},
		"the body": func(t *testing.T, s *scene, prepared Prepared, p plan.Plan) {
			bad, _, _ := treeOf(files(map[string]string{"a": "bad"}))
			p.Change.Post = bad.Hash()
			body, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			s.exec(t, `UPDATE plans SET body = ? WHERE id = ?`, body, prepared.Plan)
		},
		"the body and its hash": func(t *testing.T, s *scene, prepared Prepared, p plan.Plan) {
			bad, contents, _ := treeOf(files(map[string]string{"a": "bad"}))
			for _, c := range append([][]byte{bad.AppendCanonical(nil)}, values(contents)...) {
				if _, err := s.blobs.Put(c); err != nil {
					t.Fatal(err)
				}
			}
			p.Change.Post = bad.Hash()
			body, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			hash := plan.HashOf(body)
			s.exec(t, `UPDATE plans SET body = ?, hash = ? WHERE id = ?`, body, hash[:], prepared.Plan)
		},
		"the stage": func(t *testing.T, s *scene, prepared Prepared, _ plan.Plan) {
			spoiled := false
			s.o.Roots["strategies"] = fault.Stepped(s.roots, func() error {
				stage, err := s.roots.Sub(ownPrefix + prepared.Plan)
				if err == nil && !spoiled {
					if f, err := stage.Create("extra", 0o644); err == nil {
						spoiled = true
						f.Write([]byte("bad"))
					}
				}
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, scenery{})
			s.place(t, before)
			p := s.prepareChange(t)
			body, err := s.Operator(cli).Body(bg(), p.Plan)
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := plan.Parse(body)
			if err != nil {
				t.Fatal(err)
			}
			s.approve(t, ada, p.Plan)
			spoil(t, s, p, parsed)
			landed, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p))
			if there := s.there(t); there != treeHash(t, before) && there != treeHash(t, after) {
				t.Errorf("what nobody saw is there: %+v, %v", landed, err)
			} else if err == nil && there != treeHash(t, after) || err != nil && there != treeHash(t, before) {
				t.Errorf("%v, and the tree says otherwise", err)
			}
		})
	}
}

func values(m map[cas.Digest][]byte) (list [][]byte) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

func (s *scene) exec(t testing.TB, query string, args ...any) {
	t.Helper()
	var db *sql.DB
	if s.schema != "" {
		db, query = rawSchema(t, s.schema), numbered(query)
	} else {
		db = rawDB(t, s.dir)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

// daemon keeps approvals and a spent log of its own, as an approval daemon does.
type daemon struct {
	mu        sync.Mutex
	envelopes [][]byte
	spent     map[[16]byte]string
	landings  map[string]string
	down      bool
	file      string // what keeps it beyond the process; empty is nothing
}

func newDaemon() *daemon { return &daemon{spent: map[[16]byte]string{}, landings: map[string]string{}} }

func (d *daemon) Envelopes(context.Context, string) ([][]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return nil, errors.New("down")
	}
	return d.envelopes, nil
}

func (d *daemon) Spend(_ context.Context, nonce [16]byte, plan string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return errors.New("down")
	}
	if by, ok := d.spent[nonce]; ok && by != plan || d.landings[plan] != "" {
		return approve.ErrSpent
	}
	d.spent[nonce] = plan
	return d.note("spent", hex.EncodeToString(nonce[:]), plan)
}

func (d *daemon) Begin(_ context.Context, plan string) error { return d.mark(plan, "begun") }
func (d *daemon) End(_ context.Context, plan string) error   { return d.mark(plan, "ended") }

func (d *daemon) mark(plan, word string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.down:
		return errors.New("down")
	case d.landings[plan] == "ended" && word != "ended":
		return approve.ErrSpent
	case d.landings[plan] == "" && word == "begun" && !slices.Contains(slices.Collect(maps.Values(d.spent)), plan):
		return approve.ErrUnspent
	}
	d.landings[plan] = word
	return d.note("landing", word, plan)
}

// daemonIn is a daemon that knows what those before it have kept in a directory.
func daemonIn(dir string) (*daemon, error) {
	d := newDaemon()
	d.file = filepath.Join(dir, "keeper")
	text, err := os.ReadFile(d.file)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if words[0] == "landing" {
			d.landings[words[2]] = words[1]
			continue
		}
		nonce, _ := hex.DecodeString(words[1])
		d.spent[[16]byte(nonce)] = words[2]
	}
	return d, err
}

// note keeps a line.
func (d *daemon) note(words ...string) error {
	if d.file == "" {
		return nil
	}
	f, err := os.OpenFile(d.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, strings.Join(words, " "))
	return errors.Join(err, f.Close())
}

// TestDaemon: approvals come from elsewhere, too, count as others do, and are
// remembered there before a landing is.
func TestDaemon(t *testing.T) {
	d := newDaemon()
	s := newScene(t, scenery{sources: []approve.Source{d}})
	s.place(t, before)
	p := s.prepareChange(t)
	d.envelopes = [][]byte{s.sign(t, eve, p.Plan, nil), []byte("junk")}
	if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); code(err) != ApprovalRequired {
		t.Errorf("a stranger's: %v", err)
	}
	good := s.sign(t, ada, p.Plan, nil)
	d.envelopes = append(d.envelopes, good)
	d.spent[[16]byte{byte(ada.uid & 0xff)}] = "plan_" + store0
	if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); code(err) != TokenReplayed || s.there(t) != treeHash(t, before) {
		t.Errorf("spent on another plan: %v", err)
	}
	clear(d.spent)
	s.approve(t, ada, p.Plan) // the store has it as well, but
	d.down = true
	if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); code(err) != Internal || s.there(t) != treeHash(t, before) {
		t.Errorf("nobody can tell whether it was spent: %v", err)
	}
	d.down = false
	if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); err != nil || len(d.spent) != 1 {
		t.Errorf("%v, %d spent", err, len(d.spent))
	}
	err := s.db.View(bg(), func(tx *store.Tx) error {
		list, err := tx.Approvals(p.Plan)
		if err == nil && (len(list) != 1 || list[0].UsedBy != p.Plan) {
			err = fmt.Errorf("%d approvals", len(list))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestManyApply: of all who apply one plan at once, with the same key or others,
// the call is made once.
func TestManyApply(t *testing.T) {
	s := newScene(t, anywhere())
	c := &calls{}
	p := s.prepareCall(t, c)
	s.approve(t, ada, p.Plan)
	var made, done atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			claim := claimOf(p)
			claim.Key = fmt.Sprint("k", i%3)
			landed, err := ApplyCall(as("alice"), s.Service, remove, claim, decodeText,
				func(context.Context, string) (Preview, error) { return Preview{"removes 3 orders"}, nil },
				func(context.Context, Approved[string]) ([]byte, error) { made.Add(1); return []byte(`{}`), nil })
			switch code(err) {
			case "ok":
				done.Add(1)
				if landed.State != "done" {
					t.Errorf("%+v", landed)
				}
			case ConflictCode, TokenReplayed:
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 || done.Load() < 1 {
		t.Errorf("called %d times, done %d times", made.Load(), done.Load())
	}
}

// TestEveryBitOfAnApproval: with any bit of it another one, it approves nothing.
func TestEveryBitOfAnApproval(t *testing.T) {
	d := newDaemon()
	s := newScene(t, scenery{sources: []approve.Source{d}})
	s.place(t, before)
	p := s.prepareChange(t)
	good := s.sign(t, ada, p.Plan, nil)
	stride := 97
	if *soak {
		stride = 1
	}
	for bit := 0; bit < 8*len(good); bit += stride {
		bad := append([]byte(nil), good...)
		bad[bit/8] ^= 1 << (bit % 8)
		d.envelopes = [][]byte{bad}
		if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); code(err) != ApprovalRequired {
			t.Fatalf("bit %d: %v", bit, err)
		}
		claim := claimOf(p)
		if at := bit / 8; at < len(claim.Token) {
			text := []byte(claim.Token)
			text[at] ^= 1 << (bit % 8)
			claim.Token = string(text)
			if _, err := ApplyChange(as("alice"), s.Service, publish, claim); err == nil || code(err) == ApprovalRequired {
				t.Fatalf("bit %d of the token: %v", bit, err)
			}
		}
	}
}
