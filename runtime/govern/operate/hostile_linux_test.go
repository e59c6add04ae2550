package operate

import (
	"database/sql"
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver"
	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/internal/ptytest"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
	"github.com/capgen/capgen/runtime/host"
)

// TestStateOfOthers: a state directory that somebody else made, or can write, or
// in which something lies in the place of a file of the server's, is refused; and
// nobody waits for what is no file.
func TestStateOfOthers(t *testing.T) {
	pipe := func(name string) func(string) error {
		return func(state string) error {
			os.Remove(filepath.Join(state, name))
			return unix.Mkfifo(filepath.Join(state, name), 0o600)
		}
	}
	link := func(name string) func(string) error {
		return func(state string) error {
			path, away := filepath.Join(state, name), filepath.Join(filepath.Dir(state), "away")
			if err := os.Rename(path, away); err != nil {
				return err
			}
			return os.Symlink(away, path)
		}
	}
	mode := func(name string, mode os.FileMode) func(string) error {
		return func(state string) error { return os.Chmod(filepath.Join(state, name), mode) }
	}
	for name, c := range map[string]struct {
		spoil func(state string) error
		want  string
	}{
		"everybody reads":     {mode("", 0o755), "is open to others (mode 0755)"},
		"its group writes":    {mode("", 0o770), "is open to others (mode 0770)"},
		"keys are read":       {mode("keys", 0o750), "keys in the state directory is open to others"},
		"objects are written": {mode("cas", 0o777), "cas in the state directory is open to others"},
		"running is written":  {mode("running", 0o770), "running in the state directory is open to others"},
		"audit key is read":   {mode(auditKeyFile, 0o644), "others can read it (mode 0644): chmod 600"},
		"audit key: pipe":     {pipe(auditKeyFile), "neither a directory nor a regular file"},
		"audit key: link":     {link(auditKeyFile), "neither a directory nor a regular file"},
		"audit key: names": {func(s string) error { return os.Link(filepath.Join(s, auditKeyFile), filepath.Join(s, "more")) },
			"neither a directory nor a regular file"},
		"audit key: long": {func(s string) error { return os.Truncate(filepath.Join(s, auditKeyFile), 1<<40) }, "more than 4096 bytes"},
		"audit key: junk": {func(s string) error { return os.WriteFile(filepath.Join(s, auditKeyFile), []byte("x"), 0o600) }, "not a name and a secret"},
		"tokens: pipe":    {pipe("keys/tokens"), "neither a directory nor a regular file"},
		"tokens: link":    {link("keys/tokens"), "neither a directory nor a regular file"},
		"database: pipe":  {pipe(sqlite.FileName), "is no regular file"},
		"database: link":  {link(sqlite.FileName), "is no regular file"},
		"objects: link":   {link("cas"), "neither a directory nor a regular file"},
		"keys: link":      {link("keys"), "neither a directory nor a regular file"},
		"running: link":   {link("running"), "neither a directory nor a regular file"},
		"another account": {func(state string) error {
			if os.Geteuid() != 0 {
				return nil
			}
			return os.Chown(state, agentUID, agentUID)
		}, "belongs to account 64101"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "another account" && os.Geteuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			at := newPlace(t)
			at.made()
			must(t, c.spoil(filepath.Join(at.dir, "state")))
			if _, errs := at.run(host.ExitFailed, "recover"); !strings.Contains(errs, c.want) {
				t.Errorf("%q, want %q", errs, c.want)
			}
			if name == "database: pipe" {
				at.run(host.ExitFailed, "pending")
			}
		})
	}
}

// TestSocketInUse: a daemon takes the place of one that has ended, not of one
// that answers, and of nothing else.
func TestSocketInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	first, err := listen(path)
	must(t, err)
	if l, err := listen(path); err == nil || !strings.Contains(err.Error(), "somebody answers") {
		t.Errorf("%v, %v", l, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("%v, %v", info, err)
	}
	first.SetUnlinkOnClose(false)
	must(t, first.Close()) // as a crash leaves it
	second, err := listen(path)
	must(t, err)
	must(t, second.Close())
	must(t, os.WriteFile(path, nil, 0o600))
	if l, err := listen(path); err == nil {
		l.Close()
		t.Error("a file was removed")
	}
	must(t, os.Remove(path))
	must(t, os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), path))
	if l, err := listen(path); err == nil {
		l.Close()
		t.Error("through a link")
	}
	if _, err := net.Dial("unix", path); err == nil {
		t.Error("it answers")
	}
}

// exec runs SQL as somebody who can write the database's file.
func (p place) exec(query string, args ...any) {
	p.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(p.dir, "state", sqlite.FileName))
	must(p.t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`PRAGMA foreign_keys = 0`)
	must(p.t, err)
	_, err = db.Exec(query, args...)
	must(p.t, err)
}

// value is what a query finds first.
func (p place) value(query string) (v any) {
	p.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(p.dir, "state", sqlite.FileName))
	must(p.t, err)
	defer db.Close()
	must(p.t, db.QueryRow(query).Scan(&v))
	return v
}

// TestNothingReachesTheTerminal: whatever somebody wrote into the rows of a plan,
// no escape sequence is printed, where the row is shown and where it is refused.
func TestNothingReachesTheTerminal(t *testing.T) {
	const escape = "\x1b]0;x\a\x1b[2J\u202e"
	for _, column := range []string{"id", "owner", "capability", "status", "reason", "body", "hash"} {
		at := newPlace(t)
		p := prepare(t, at.service(), "k1", escape)
		switch column {
		case "reason":
			at.exec(`UPDATE plans SET status = 'rejected', reason = ?1, moved_by = ?1`, escape)
		case "body", "hash":
			at.exec(`UPDATE plans SET `+column+` = ?`, []byte(escape))
		default:
			at.exec(`UPDATE plans SET `+column+` = ?`, escape)
		}
		for _, args := range [][]string{{"pending"}, {"plans"}, {"show", p.Plan}, {"show", escape}, {"plans", "--status", escape}, {"recover"}, {"clean"}, {"doctor"}} {
			cmd := at.command(args...)
			out, _ := cmd.CombinedOutput()
			if strings.ContainsAny(string(out), "\x1b\a\u202e") {
				t.Errorf("%s: %q: %q", column, args, out)
			}
		}
	}
}

// TestSwappedWhileShown: who exchanges the plan while a person reads gets a
// signature over what the person has read, and nothing lands.
func TestSwappedWhileShown(t *testing.T) {
	at := newPlace(t)
	service := at.service()
	p := prepare(t, service, "k1", "hello\n")
	terminal, err := ptytest.Start(at.command("approve", p.Plan, "--key", at.key))
	if err != nil {
		t.Skip(err)
	}
	shown, words, err := terminal.Question()
	must(t, err)
	other := prepare(t, service, "k2", "something else\n")
	body, err := service.Operator(actor()).Body(t.Context(), p.Plan)
	must(t, err)
	evil, err := service.Operator(actor()).Body(t.Context(), other.Plan)
	must(t, err)
	was, err := plan.Parse(body)
	must(t, err)
	q, err := plan.Parse(evil)
	must(t, err)
	was.Change = q.Change
	evil, err = was.Encode()
	must(t, err)
	hash := plan.HashOf(evil)
	at.exec(`UPDATE plans SET body = ?, hash = ? WHERE id = ?`, evil, hash[:], p.Plan)
	must(t, terminal.Answer(words+"\n"))
	rest, err := terminal.Wait()
	if err == nil || !strings.Contains(shown, "hello") || !strings.Contains(rest, "another plan") {
		t.Errorf("%q, %q, %v", shown, rest, err)
	}
	if _, err := land(t, service, p); err == nil {
		t.Error("it landed")
	}
	if _, err := os.Stat(filepath.Join(at.dir, "notes", "june")); err == nil {
		t.Error("it is there")
	}
}

var soak = flag.Bool("soak", false, "list 100,000 plans")

// TestManyPlans: however many plans wait, they are listed, and with no more
// memory than their lines take.
func TestManyPlans(t *testing.T) {
	many := 300
	if *soak {
		many = 100_000
	}
	at := newPlace(t)
	service := at.service()
	p := prepare(t, service, "k1", "hello\n")
	body, err := service.Operator(actor()).Body(t.Context(), p.Plan)
	must(t, err)
	one, err := plan.Parse(body)
	must(t, err)
	db, err := sqlite.Open(t.Context(), filepath.Join(at.dir, "state"), store.Options{AuditKey: audit.Key{ID: "k", Secret: make([]byte, audit.MinSecretBytes)}})
	must(t, err)
	defer db.Close()
	must(t, db.Update(t.Context(), func(tx *store.Tx) error {
		for n := range many {
			one.ID = fmt.Sprintf("plan_%032x", n)
			body, err := one.Encode()
			if err != nil {
				return err
			}
			nonce := [16]byte{}
			if _, err := hex.Decode(nonce[:], []byte(one.ID[5:])); err != nil {
				return err
			}
			row := store.Plan{
				ID: one.ID, Owner: one.Owner, Capability: one.Capability, Hash: plan.HashOf(body), Body: body, Nonce: nonce,
				Created: one.Created.Wall.UnixMicro(), Expires: one.Expires().Wall.UnixMicro(),
			}
			if err := tx.InsertPlan(row, store.KindChange, nil); err != nil {
				return err
			}
		}
		return nil
	}))
	cmd := at.command("pending")
	out, err := cmd.Output()
	if lines := strings.Count(string(out), "\n"); err != nil || lines != many+2 {
		t.Fatalf("%d lines, %v", lines, err)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("%d plans: %v of processor time, %d KiB", many, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), usage.Maxrss)
}
