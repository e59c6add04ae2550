package codegen

import (
	"testing"

	"github.com/capgen/capgen/schema"
)

func TestGoName(t *testing.T) {
	for name, want := range map[string]string{
		"path": "Path", "read_many": "ReadMany", "user_id": "UserID", "userId": "UserID", "URLList": "URLList",
		"http_api": "HTTPAPI", "HTTPServer": "HTTPServer", "a_1_2": "A1_2", "a_12": "A12", "a1b": "A1b", "_": "X", "_1": "X1", "__x": "X",
		"id": "ID", "ids": "Ids", "uuid4": "Uuid4", "a.b": "AB", "ABC": "ABC", "aB_C": "ABC",
	} {
		if got := goName(name); got != want {
			t.Errorf("goName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestUnexportedAndSnake(t *testing.T) {
	for name, want := range map[string][2]string{
		"URLList": {"urlList", "url_list"}, "ReadMany": {"readMany", "read_many"}, "ID": {"id", "id"}, "A1_2": {"a1_2", "a1_2"}, "X": {"x", "x"},
	} {
		if got := [2]string{unexported(name), snake(name)}; got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestEnumName(t *testing.T) {
	for value, want := range map[string]string{
		"": "Empty", "a": "A", "a-b": "AB", "1.5": "1_5", "15": "15", "-1": "1", "+": "U002B", "-": "U002D", "a+": "AU002B", "日本": "U65E5U672C", " ": "U0020",
	} {
		if got := enumName(value); got != want {
			t.Errorf("enumName(%q) = %q, want %q", value, got, want)
		}
	}
}

func TestPackageName(t *testing.T) {
	for segment, want := range map[string]string{"files": "files", "func": "func_", "string": "string_", "main": "main_", "init": "init_", "nil": "nil_", "canon": "canon"} {
		if got := packageName(segment); got != want {
			t.Errorf("packageName(%q) = %q, want %q", segment, got, want)
		}
	}
}

// Aliases differ for different namespaces, and none is a word of the catalog.
func TestNamespaceAlias(t *testing.T) {
	taken := map[string]bool{"runtime": true, "b": true, "h": true}
	got := map[string]string{}
	for _, ns := range []string{"a.b", "a_b", "b", "b.n.s", "func", "h", "init", "runtime", "runtime.n.s", "records"} {
		got[ns] = namespaceAlias(ns, taken)
	}
	want := map[string]string{
		"a.b": "aB", "a_b": "a_b", "b": "bNS", "b.n.s": "bNSNS", "func": "funcNS", "h": "hNS", "init": "initNS",
		"runtime": "runtimeNS", "runtime.n.s": "runtimeNSNS", "records": "records",
	}
	for ns, alias := range want {
		if got[ns] != alias {
			t.Errorf("alias of %s is %s, want %s", ns, got[ns], alias)
		}
	}
}

// The later of two positions gets the finding, whichever is claimed first.
func TestClaimNamesBothPositions(t *testing.T) {
	early, late := schema.Position{File: "m", Line: 2, Column: 1}, schema.Position{File: "m", Line: 9, Column: 1}
	for _, order := range [][2]schema.Position{{early, late}, {late, early}} {
		var diags []schema.Diagnostic
		s := newScope("here", &diags)
		s.claim("A", "one", order[0])
		s.claim("A", "two", order[1])
		if len(diags) != 1 || diags[0].Position != late || diags[0].Related == nil || *diags[0].Related != early {
			t.Errorf("claims at %v: %+v", order, diags)
		}
	}
}
