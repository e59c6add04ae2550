//go:build unix

package tree_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/cmd/workspace/internal/tree"
)

const secret = "what lies outside"

// readOne reads a file and returns its text, or the code of its error.
func readOne(t testing.TB, x *tree.Tree, p string) (string, tree.Code) {
	t.Helper()
	page, err := x.Read(context.Background(), tree.ReadRequest{Ranges: []tree.Range{{Path: p}}, MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if e := page.Texts[0].Error; e != nil {
		return "", code(t, e)
	}
	return page.Texts[0].Text, ""
}

func TestLinks(t *testing.T) {
	outside := build(t, map[string]string{"secret": secret, "d/secret": secret})
	dir := build(t, map[string]string{"d/f": "inside", "loop/": ""})
	for name, target := range map[string]string{
		"abs":       filepath.Join(outside, "secret"),
		"absdir":    outside,
		"rel":       "../" + filepath.Base(outside) + "/secret",
		"d/up":      "../../" + filepath.Base(outside) + "/secret",
		"in":        "d/f",
		"indir":     "d",
		"d/in":      "../d/f",
		"dangling":  "none",
		"self":      "self",
		"loop/back": "..",
		"chain":     "rel",
		"passwd":    "/etc/passwd",
		"proc":      "/proc/self/environ",
	} {
		symlink(t, target, filepath.Join(dir, name))
	}
	x := open(t, dir)
	for p, want := range map[string]string{
		"in": "inside", "indir/f": "inside", "d/in": "inside", "loop/back/d/f": "inside",
		"abs": "outside", "absdir/secret": "outside", "rel": "outside", "d/up": "outside", "indir/up": "outside", "chain": "outside",
		"passwd": "outside", "proc": "outside",
		"dangling": "not_found", "self": "unreadable", "indir": "not_file",
	} {
		text, failed := readOne(t, x, p)
		if text+string(failed) != want {
			t.Errorf("%s: got %q %s, want %s", p, text, failed, want)
		}
	}
	if _, err := x.Walk(context.Background(), tree.WalkRequest{Scope: tree.Scope{Path: "absdir"}, Limit: 9}); code(t, err) != tree.Outside {
		t.Errorf("a walk outside: %v", err)
	}
	got, problems, _ := walkAll(t, x, tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: 3})
	want := []string{"abs link 0", "absdir link 0", "chain link 0", "d directory 0", "d/f file 6", "d/in link 0", "d/up link 0", "dangling link 0",
		"in link 0", "indir link 0", "loop directory 0", "loop/back link 0", "passwd link 0", "proc link 0", "rel link 0", "self link 0"}
	if diff := cmp.Diff(want, got); diff != "" || problems != nil {
		t.Errorf("%s, problems %v", diff, problems)
	}
	if got, _, _ := walkAll(t, x, tree.WalkRequest{Scope: tree.Scope{Path: "indir"}, Limit: 3}); strings.Join(got, "|") != "indir/f file 6|indir/in link 0|indir/up link 0" {
		t.Errorf("a walk that begins at a link inside: %v", got)
	}
	found, err := x.Search(context.Background(), tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "outside|inside", Limit: 10, PerFile: 10})
	if err != nil || len(found.Matches) != 1 || found.Matches[0].Path != "d/f" {
		t.Errorf("got %+v, %v; want the one file inside", found, err)
	}
	stats, err := x.Stat(context.Background(), []string{"in", "indir", "abs", "dangling", "absdir/secret"})
	if err != nil {
		t.Fatal(err)
	}
	if stats[0].Kind != tree.Link || stats[0].Target != tree.File || stats[1].Target != tree.Directory || stats[2].TargetError.Code != tree.Outside ||
		stats[3].TargetError.Code != tree.NotFound || stats[4].Error.Code != tree.Outside {
		t.Errorf("got %+v", stats)
	}
}

func TestSpecialFiles(t *testing.T) {
	dir := build(t, map[string]string{"f": "x"})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Skipf("FIFOs cannot be made here: %v", err)
	}
	// A path short enough for a socket.
	t.Chdir(dir)
	listener, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	want := "f file 1|fifo other 0|socket other 0"
	special := []string{"fifo", "socket"}
	if syscall.Mknod(filepath.Join(dir, "null"), syscall.S_IFCHR|0o666, 1<<8|3) == nil {
		want = "f file 1|fifo other 0|null other 0|socket other 0"
		special = append(special, "null")
	} else {
		t.Log("devices cannot be made here")
	}
	x := open(t, dir)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, p := range special {
			if _, failed := readOne(t, x, p); failed != tree.NotFile {
				t.Errorf("%s: %s", p, failed)
			}
			if _, failed := readOne(t, x, p+"/x"); failed != tree.NotDirectory {
				t.Errorf("%s/x: %s", p, failed)
			}
		}
		if got, _, _ := walkAll(t, x, tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: 3}); strings.Join(got, "|") != want {
			t.Errorf("got %v, want %s", got, want)
		}
		found, err := x.Search(context.Background(), tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "x", Limit: 9, PerFile: 9})
		if err != nil || len(found.Matches) != 1 || found.Problems != nil {
			t.Errorf("got %+v, %v", found, err)
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("a special file was opened, and blocks")
	}
}

// TestSwap exchanges a file and a directory for links outside and FIFOs while
// they are read: nothing outside is ever seen and nothing blocks.
func TestSwap(t *testing.T) {
	outside := build(t, map[string]string{"f": secret, "secretname": ""})
	dir := build(t, map[string]string{"d/f": "inside", "g": "inside"})
	x := open(t, dir)
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		g, d, spare := filepath.Join(dir, "g"), filepath.Join(dir, "d"), filepath.Join(dir, "spare")
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			// Failures only make the race less likely.
			_ = os.Remove(g)
			_ = os.Rename(d, spare)
			if n%2 == 0 {
				_ = os.Symlink(filepath.Join(outside, "f"), g)
				_ = os.Symlink(outside, d)
			} else {
				_ = syscall.Mkfifo(g, 0o644)
				_ = syscall.Mkfifo(d, 0o644)
			}
			runtime.Gosched()
			_ = os.Remove(g)
			_ = os.Remove(d)
			_ = os.WriteFile(g, []byte("inside"), 0o644)
			_ = os.Rename(spare, d)
		}
	})
	finished := make(chan map[string]int)
	go func() {
		seen := map[string]int{}
		for begin := time.Now(); time.Since(begin) < 2*time.Second; {
			for _, p := range []string{"g", "d/f"} {
				text, failed := readOne(t, x, p)
				seen[text+string(failed)]++
			}
			page, err := x.Walk(context.Background(), tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: 100})
			if err != nil {
				t.Error(err)
			}
			for _, e := range page.Entries {
				if strings.Contains(e.Path, "secretname") {
					t.Errorf("a walk saw %s", e.Path)
				}
			}
			found, err := x.Search(context.Background(), tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "outside", Limit: 10, PerFile: 10})
			if err != nil || len(found.Matches) != 0 {
				t.Errorf("a search found %+v, %v", found.Matches, err)
			}
		}
		finished <- seen
	}()
	select {
	case seen := <-finished:
		t.Logf("seen: %v", seen)
		if seen[secret] > 0 {
			t.Error("what lies outside was read")
		}
		if seen["inside"] == 0 || seen["outside"] == 0 {
			t.Log("the race was not met on both sides")
		}
	case <-time.After(30 * time.Second):
		t.Error("reading blocks")
	}
	close(stop)
	wait.Wait()
}

func TestPermissions(t *testing.T) {
	dir := build(t, map[string]string{"f": "x", "closed/f": "x", "open/f": "x"})
	for _, name := range []string{"f", "closed"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o755) })
	x := open(t, dir)
	t.Run("as nobody", func(t *testing.T) {
		unprivileged(t)
		for _, p := range []string{"f", "closed/f"} {
			if _, failed := readOne(t, x, p); failed != tree.Permission {
				t.Errorf("%s: %s", p, failed)
			}
		}
		for limit := 1; limit < 4; limit++ {
			got, problems, _ := walkAll(t, x, tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: limit})
			if strings.Join(got, "|") != "closed directory 0|f file 1|open directory 0|open/f file 1" || strings.Join(problems, "|") != "closed permission" {
				t.Errorf("limit %d: got %v, problems %v", limit, got, problems)
			}
		}
		found, err := x.Search(context.Background(), tree.SearchRequest{Scope: tree.Scope{Path: "."}, Pattern: "x", Limit: 9, PerFile: 9})
		if err != nil || len(found.Matches) != 1 || len(found.Problems) != 2 {
			t.Errorf("got %+v, %v", found, err)
		}
	})
}

// TestNoHostPaths looks for paths of the host in everything that can go wrong.
func TestNoHostPaths(t *testing.T) {
	dir := build(t, map[string]string{"f": "x", "d/": ""})
	symlink(t, "/etc/passwd", filepath.Join(dir, "l"))
	x, err := tree.Open([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	check := func() {
		for _, p := range []string{"none", "l", "f/x", "d", "..", strings.Repeat("n", 300), "f"} {
			if text, failed := readOne(t, x, p); failed == "" && text != "x" {
				t.Errorf("%s: %q", p, text)
			}
			if _, err := x.Walk(context.Background(), tree.WalkRequest{Scope: tree.Scope{Path: p}, Limit: 1}); err != nil {
				code(t, err)
			}
			stats, err := x.Stat(context.Background(), []string{p})
			if err != nil {
				t.Fatal(err)
			}
			if stats[0].Error != nil {
				code(t, stats[0].Error)
			}
		}
	}
	check()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	check()
	if _, err := x.Walk(context.Background(), tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: 1}); err == nil || errors.Is(err, os.ErrClosed) {
		t.Errorf("a walk in a closed tree: %v", err)
	}
}
