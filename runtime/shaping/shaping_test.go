package shaping_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/shaping"
)

const depth = 8

// wire is the wire form of a JSON text, json the reverse.
func wire(t testing.TB, text string) []byte {
	t.Helper()
	o, err := canon.ParseOpaque([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b, err := canon.AppendWire(nil, &o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func json(t testing.TB, wire []byte) string {
	t.Helper()
	text, _, err := canon.WireToJSON(nil, wire, depth)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestKeep(t *testing.T) {
	const value = `{"a":{"b":[{"c":1,"d":[2]},{"c":null}],"e":5},"m":{"x":{"y":1,"z":2},"w":{}},"n":null,"s":"t"}`
	for _, test := range []struct{ pointers, want string }{
		{"/s", `{"s":"t"}`},
		{"/a", `{"a":{"b":[{"c":1,"d":[2]},{"c":null}],"e":5}}`},
		{"/a/b/*/c /n/x", `{"a":{"b":[{"c":1},{"c":null}]},"n":null}`},
		{"/a/e /a/b/*/d", `{"a":{"b":[{"d":[2]},{}],"e":5}}`},
		{"/m/*/z /s", `{"m":{"w":{},"x":{"z":2}},"s":"t"}`},
		{"/gone", `{}`},
		{"/a/b/0/c", `{"a":{"b":[]}}`},
	} {
		k, err := shaping.NewKeep(strings.Fields(test.pointers))
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.Apply(wire(t, value), depth)
		if err != nil {
			t.Fatal(err)
		}
		if text := json(t, got); text != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.pointers, text, test.want)
		}
	}
	k, err := shaping.NewKeep([]string{"/a~1b/~0"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.Apply(wire(t, `{"a/b":{"~":1,"b":2},"a":3}`), depth); err != nil || json(t, got) != `{"a/b":{"~":1}}` {
		t.Errorf("escapes: %v, %v", got, err)
	}
}

func TestKeepRefuses(t *testing.T) {
	for _, pointers := range [][]string{
		nil, make([]string, shaping.MaxPointers+1), {"a"}, {""}, {"/a", "/a"}, {"/a", "/a/b"}, {"/a/b", "/a"}, {"/*/a", "/*"},
		{"/" + strings.Repeat("a", shaping.MaxPointerBytes)},
	} {
		if _, err := shaping.NewKeep(pointers); err == nil {
			t.Errorf("accepted %.80q", pointers)
		}
	}
	k, err := shaping.NewKeep([]string{"/a/b"})
	if err != nil {
		t.Fatal(err)
	}
	good := wire(t, `{"a":{"b":[1]},"c":{"d":[2]}}`)
	for i := range good {
		if _, err := k.Apply(good[:i], depth); err == nil {
			t.Errorf("accepted %d bytes of %d", i, len(good))
		}
	}
	var e *canon.Error
	if _, err := k.Apply(good, 2); !errors.As(err, &e) || e.Code != canon.CodeDepth {
		t.Errorf("too deep: %v", err)
	}
	if _, err := k.Apply(append(good, 0xc0), depth); err == nil {
		t.Error("accepted bytes after the value")
	}
}

func TestCut(t *testing.T) {
	const page = `{"list":["aaaa","bb","cc"],"cursor":"n","more":1}`
	paged := func(items, bytes int) shaping.Cut {
		return shaping.Cut{Items: items, Bytes: bytes, List: "list", Next: "cursor"}
	}
	for name, test := range map[string]struct {
		cut   shaping.Cut
		most  int
		value string
		want  string
	}{
		"all":             {shaping.Cut{Items: 3}, 1000, `[1,2,3]`, `{"items":[1,2,3],"truncated":false}`},
		"none there":      {shaping.Cut{Items: 3}, 1000, `[]`, `{"items":[],"truncated":false}`},
		"items":           {shaping.Cut{Items: 2}, 1000, `[1,2,3]`, `{"items":[1,2],"truncated":true}`},
		"bytes":           {shaping.Cut{Bytes: 8}, 1000, `["aaaa","bb","c"]`, `{"items":["aaaa","bb"],"truncated":true}`},
		"not the next":    {shaping.Cut{Bytes: 7}, 1000, `["aaaa","bb","c"]`, `{"items":["aaaa"],"truncated":true}`},
		"not even one":    {shaping.Cut{Bytes: 4}, 1000, `["aaaa"]`, `{"items":[],"truncated":true}`},
		"the runtime's":   {shaping.Cut{Items: 9}, 64 + 8, `["aaaa","bb","c"]`, `{"items":["aaaa","bb"],"truncated":true}`},
		"a page":          {paged(3, 0), 1000, page, `{"items":["aaaa","bb","cc"],"next":"n","truncated":false}`},
		"a page, cut":     {paged(2, 0), 1000, page, `{"items":["aaaa","bb"],"next":null,"truncated":true}`},
		"the last":        {paged(2, 0), 1000, `{"cursor":null,"list":[]}`, `{"items":[],"next":null,"truncated":false}`},
		"the last, empty": {paged(2, 0), 1000, `{"cursor":"","list":[]}`, `{"items":[],"next":null,"truncated":false}`},
		"the last, none":  {paged(2, 0), 1000, `{"list":[1]}`, `{"items":[1],"next":null,"truncated":false}`},
		"a number":        {paged(2, 0), 1000, `{"cursor":0,"list":[1]}`, `{"items":[1],"next":0,"truncated":false}`},
	} {
		got, err := test.cut.Apply(wire(t, test.value), test.most, depth)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text := json(t, got); text != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, text, test.want)
		}
		if len(got) > test.most {
			t.Errorf("%s: %d bytes, more than %d", name, len(got), test.most)
		}
	}
	good := wire(t, page)
	for i := range good {
		if _, err := paged(2, 0).Apply(good[:i], 1000, depth); err == nil {
			t.Errorf("accepted %d bytes of %d", i, len(good))
		}
	}
	if _, err := paged(2, 0).Apply(wire(t, `{"cursor":"n"}`), 1000, depth); err == nil {
		t.Error("accepted a page without a list")
	}
}
