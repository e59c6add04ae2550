package schema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const goodWaiver = `rule: scope-added
target: files.list#/scopes/files:list
fingerprint: sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
reason: All callers have the scope already.
approver: Ada
expires: "2026-12-31"
`

func TestLoadWaiver(t *testing.T) {
	w, diags := LoadWaiver([]byte(goodWaiver), "changes/a.yaml")
	if w == nil {
		t.Fatal(diags)
	}
	want := &Waiver{
		Rule: "scope-added", Target: "files.list#/scopes/files:list",
		Fingerprint: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		Reason:      "All callers have the scope already.", Approver: "Ada", Expires: "2026-12-31",
		Pos: Position{File: "changes/a.yaml", Line: 1, Column: 1},
	}
	if diff := cmp.Diff(want, w); diff != "" {
		t.Error(diff)
	}
	for old, c := range map[string]struct{ text, want string }{
		"rule: scope-added\n":   {"", `changes/a.yaml:1:1: error: a waiver needs "rule" [missing-field]`},
		"approver: Ada\n":       {"", `error: a waiver needs "approver" [missing-field]`},
		`expires: "2026-12-31"`: {"expires: never", `changes/a.yaml:6:10: error: expires: "never" is no date [bad-value]`},
		"89abcdef\n":            {"\n", `changes/a.yaml:3:14: error: "sha256:0123`},
		"sha256:0123":           {"sha256:*123", `is no fingerprint [bad-value]`},
		"reason":                {"reasons", `changes/a.yaml:4:1: error: a waiver takes no key "reasons" [unknown-key]`},
		"Ada":                   {"A\u200bda", "invisible-text"},
		"already.":              {strings.Repeat("x", MaxWaiverBytes), "file-too-large"},
	} {
		w, diags := LoadWaiver([]byte(strings.Replace(goodWaiver, old, c.text, 1)), "changes/a.yaml")
		var all []string
		for _, d := range diags {
			all = append(all, d.String())
		}
		if w != nil || !strings.Contains(strings.Join(all, "\n"), c.want) {
			t.Errorf("%q → %q: %v", old, c.text, all)
		}
	}
}

// FuzzLoadWaiver: no input makes LoadWaiver panic, and there is a waiver if and
// only if there is no error.
func FuzzLoadWaiver(f *testing.F) {
	f.Add([]byte(goodWaiver))
	f.Add([]byte("rule: &a x\ntarget: *a"))
	f.Add([]byte("{rule: [], expires: 2026-12-31}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		w, diags := LoadWaiver(text, "w.yaml")
		if (w == nil) != HasErrors(diags) {
			t.Fatalf("%v, %v", w, diags)
		}
		if w != nil && (w.Rule == "" || w.Target == "" || w.Fingerprint == "" || w.Reason == "" || w.Approver == "" || w.Expires == "") {
			t.Fatalf("%+v", w)
		}
	})
}
