package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime"
)

// exec runs a program as the desk's agent.
func (d desk) exec(source string, result any) {
	d.t.Helper()
	stdout, stderr, exit := workspace(d.t, source, append([]string{"exec", "-", "--log-level", "error"}, d.flags()...)...)
	if exit != 0 {
		d.t.Fatalf("exit %d: %s%s", exit, stdout, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), result); err != nil {
		d.t.Fatalf("%v: %s", err, stdout)
	}
}

// TestHostilePaths: no path that a program gives leads out of the root, past a
// link, or to two names that one system takes for the same; and the answer says
// nothing of what is there.
func TestHostilePaths(t *testing.T) {
	d := newDesk(t)
	outside := filepath.Dir(d.root)
	for link, to := range map[string]string{"out": outside, "same": "notes", "notes/inner": "../notes"} {
		if link == "notes/inner" {
			if err := os.Mkdir(filepath.Join(d.root, "mixed"), 0o755); err != nil {
				t.Fatal(err)
			}
			link = "mixed/inner"
		}
		if err := os.Symlink(to, filepath.Join(d.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(d.root, "top.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	paths := map[string][3]string{ // of a directory to draft, of a directory to publish to, of a file of a draft
		"..":                     {"confinement", "confinement", "invalid_request"},
		"../state":               {"confinement", "confinement", "invalid_request"},
		"a/../../state":          {"confinement", "confinement", "invalid_request"},
		"/etc":                   {"invalid_request", "invalid_request", "invalid_request"},
		".":                      {"invalid_request", "invalid_request", "invalid_request"},
		"notes/..":               {"invalid_request", "invalid_request", "invalid_request"},
		"out":                    {"confinement", "confinement", "ok"},
		"out/state":              {"confinement", "confinement", "ok"},
		"same":                   {"confinement", "confinement", "ok"},
		"mixed":                  {"confinement", "confinement", "ok"},
		"top.txt":                {"confinement", "confinement", "ok"},
		"top.txt/x":              {"confinement", "confinement", "ok"},
		"none/x":                 {"not_found", "not_found", "ok"},
		"NOTES":                  {"not_found", "ok", "ok"},
		"note\u0301s":            {"confinement", "confinement", "invalid_request"},
		"notes\u200b":            {"confinement", "confinement", "invalid_request"},
		"notes\u202e":            {"confinement", "confinement", "invalid_request"},
		"a\nb":                   {"confinement", "confinement", "invalid_request"},
		"a\x00b":                 {"confinement", "confinement", "invalid_request"},
		".capgen-x":              {"confinement", "confinement", "ok"},
		strings.Repeat("n", 300): {"confinement", "confinement", "invalid_request"},
	}
	names := slices.Sorted(maps.Keys(paths))
	list, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Path  string
		Codes [3]string
		Texts string
	}
	d.exec(`
def code(r):
    return "ok" if r.ok else r.error.code

def main():
    d = drafts.create(files = [{"path": "a", "text": "b"}])
    token = drafts.validate(draft = d.draft, revision = 1).token
    out = []
    for p in json.decode(`+"'''"+strings.ReplaceAll(string(list), `\`, `\\`)+"'''"+`):
        rs = [attempt(lambda: drafts.create(path = p)), attempt(lambda: drafts.publish.prepare(validation = token, path = p, summary = "s", key = "k" + str(len(out)))), attempt(lambda: drafts.create(files = [{"path": p, "text": "x"}]))]
        out.append({"path": p, "codes": [code(r) for r in rs], "texts": "".join(["" if r.ok else r.error.message for r in rs])})
    return out
`, &got)
	if len(got) != len(names) {
		t.Fatal(got)
	}
	for _, g := range got {
		if g.Codes != paths[g.Path] || strings.Contains(g.Texts, outside) {
			t.Errorf("%q: %v, want %v: %s", g.Path, g.Codes, paths[g.Path], g.Texts)
		}
	}
	var pairs []string
	d.exec(`
def main():
    return ["ok" if r.ok else r.error.code for r in [attempt(lambda: drafts.create(files = [{"path": p, "text": "x"} for p in pair])) for pair in [["A", "a"], ["stra\u00dfe", "STRASSE"], ["a", "a/b"], ["x", "x"], ["d/x", "D/y"], ["x", "y"]]]]
`, &pairs)
	if diff := cmp.Diff([]string{"invalid_request", "invalid_request", "invalid_request", "invalid_request", "invalid_request", "ok"}, pairs); diff != "" {
		t.Error(diff)
	}
	if text, err := os.ReadFile(filepath.Join(d.root, "notes", "june.json")); err != nil || string(text) != `{"rain": 1}` {
		t.Errorf("%s, %v", text, err)
	}
}

// TestTokensOfDrafts: what was validated is what is planned; a key is of one
// request; a plan that was given up lands no more; and of two plans for one
// directory only the first does. Approvers see what goes, then what can be run.
func TestTokensOfDrafts(t *testing.T) {
	d := newDesk(t)
	if err := os.WriteFile(filepath.Join(d.root, "notes", "july.json"), []byte(`{}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Codes []string
		Plans []struct{ Plan, Token, Approval string }
	}
	d.exec(`
def code(r):
    return "ok" if r.ok else r.error.code

def draft(text):
    return drafts.create(files = [{"path": "june.json", "text": text}, {"path": "run.sh", "text": "#!/bin/sh\n", "executable": True}])

def prepare(token, key, summary = "s"):
    return drafts.publish.prepare(validation = token, path = "notes", summary = summary, key = key)

def main():
    one = draft("{\"rain\": 2}")
    stale = drafts.validate(draft = one.draft, revision = 1).token
    one = drafts.update(draft = one.draft, revision = 1, path = "new.txt", text = "")
    codes = [
        code(attempt(lambda: prepare(stale, "a"))),
        code(attempt(lambda: prepare(stale[:-1], "a"))),
        code(attempt(lambda: prepare("", "a"))),
        code(attempt(lambda: drafts.validate(draft = one.draft, revision = 1))),
        code(attempt(lambda: drafts.update(draft = one.draft, revision = 1, path = "x", text = ""))),
        code(attempt(lambda: drafts.delete(draft = one.draft, revision = 1))),
    ]
    good = drafts.validate(draft = one.draft, revision = 2).token
    first = prepare(good, "a")
    codes.append("same" if prepare(good, "a").plan == first.plan else "another")
    codes.append(code(attempt(lambda: prepare(good, "a", summary = "other"))))
    codes.append(code(attempt(lambda: drafts.publish.apply(plan = first.plan, token = good, key = "x"))))
    two = draft("{\"rain\": 3}")
    second = prepare(drafts.validate(draft = two.draft, revision = 1).token, "b")
    third = prepare(drafts.validate(draft = two.draft, revision = 1).token, "c")
    change.cancel(plan = third.plan)
    codes.append(code(attempt(lambda: drafts.publish.apply(plan = third.plan, token = third.token, key = "y"))))
    return {"codes": codes, "plans": [{"plan": p.plan, "token": p.token, "approval": p.approval} for p in [first, second, third]]}
`, &got)
	want := []string{"stale_state", "token_invalid", "token_invalid", "conflict", "conflict", "conflict", "same", "conflict", "token_invalid", "conflict"}
	if diff := cmp.Diff(want, got.Codes); diff != "" {
		t.Error(diff)
	}
	for _, p := range got.Plans[:2] {
		shown := d.decide(p.Approval)
		gone, run, changed := strings.Index(shown, "DELETED: 1"), strings.Index(shown, "NEW, AND CAN BE RUN: 1"), strings.Index(shown, "MODIFIED: 1")
		if gone < 0 || run < gone || changed < run {
			t.Errorf("%s", shown)
		}
	}
	land := func(i int) (answer struct {
		OK    bool
		Error struct{ Code string }
	}) {
		d.exec(`
def main():
    return attempt(lambda: drafts.publish.apply(plan = "`+got.Plans[i].Plan+`", token = "`+got.Plans[i].Token+`", key = "land`+got.Plans[i].Plan+`"))
`, &answer)
		return answer
	}
	if a := land(0); !a.OK {
		t.Error(a)
	}
	if a := land(1); a.OK || a.Error.Code != "stale_state" {
		t.Error(a)
	}
	if a := land(0); !a.OK { // once more is no other landing
		t.Error(a)
	}
	for name, mode := range map[string]os.FileMode{"june.json": 0o644, "run.sh": 0o755, "new.txt": 0o644} {
		if info, err := os.Stat(filepath.Join(d.root, "notes", name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(d.root, "notes", "june.json")); err != nil || string(text) != `{"rain": 2}` {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(d.root, "notes", "july.json")); !os.IsNotExist(err) {
		t.Errorf("july.json: %v", err)
	}
}

// TestDraftsAreFound asks in the words of an agent that means to write.
func TestDraftsAreFound(t *testing.T) {
	d := newDesk(t)
	for query, want := range map[string]string{
		"edit files in a directory": "drafts.create", "write a file": "drafts.create", "validate draft": "drafts.validate", "list drafts": "drafts.list",
		"status of a change": "change.status", "cancel a plan": "change.cancel", "is my change approved": "change.status", "apply an approved plan": "drafts.publish.apply",
	} {
		stdout, stderr, exit := workspace(t, "", append([]string{"search", query}, d.flags()...)...)
		var answer runtime.SearchResult
		if err := json.Unmarshal([]byte(stdout), &answer); err != nil || exit != 0 || len(answer.Results) == 0 {
			t.Fatalf("%s: exit %d, %v: %s", query, exit, err, stderr)
		}
		if answer.Results[0].Name != want {
			t.Errorf("%s: first is %s, want %s", query, answer.Results[0].Name, want)
		}
	}
}

// TestReadsChangeNothing: what says that it only reads leaves root and state as
// they were, to the byte.
func TestReadsChangeNothing(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session := d.connect(ctx)
	defer session.Close()
	made, failed := execute(ctx, t, session, `
def main():
    d = drafts.create(path = "notes", files = [{"path": "new.txt", "text": "new"}])
    p = drafts.publish.prepare(validation = drafts.validate(draft = d.draft, revision = 1).token, path = "notes", summary = "s", key = "k")
    return {"draft": d.draft, "plan": p.plan}
`)
	if failed != "" {
		t.Fatal(failed)
	}
	read := `
def main():
    d, p = "` + made["draft"].(string) + `", "` + made["plan"].(string) + `"
    drafts.get(draft = d)
    drafts.list()
    drafts.read(draft = d, path = "new.txt")
    drafts.diff(draft = d, path = "notes")
    drafts.diff(draft = d, path = "elsewhere")
    change.show(plan = p)
    change.list()
    change.status(plan = p)
    files.tree(path = "notes")
    return {"ok": True}
`
	before := contents(t, filepath.Dir(d.root))
	for range 2 {
		if _, failed := execute(ctx, t, session, read); failed != "" {
			t.Fatal(failed)
		}
	}
	if diff := cmp.Diff(before, contents(t, filepath.Dir(d.root))); diff != "" {
		t.Error(diff)
	}
}

// contents are all files below a directory, by path, with mode and SHA-256.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[path] = "directory"
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		// The index of SQLite's log holds marks of readers, and nothing that lasts.
		if !strings.HasSuffix(path, "-shm") {
			all[path] = fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
