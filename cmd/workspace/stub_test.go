package main

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	starjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/cmd/workspace/internal/tree"
)

// runPlain runs the program on the plain interpreter, with namespaces that
// stand for the real ones, and returns JSON, steps and text bytes.
func runPlain(t *testing.T, dir string) ([]byte, uint64, int, int) {
	t.Helper()
	roots, err := tree.Open([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	defer roots.Close()
	source, err := os.ReadFile(exploreProgram)
	if err != nil {
		t.Fatal(err)
	}
	calls, bytes := 0, 0
	record := func(d starlark.StringDict) starlark.Value {
		return starlarkstruct.FromStringDict(starlark.String("record"), d)
	}
	str := func(s string) starlark.Value { bytes += len(s) + 20; return starlark.String(s) }
	treeBuiltin := starlark.NewBuiltin("tree", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		calls++
		var limit int
		var cursor string
		if err := starlark.UnpackArgs("tree", args, kwargs, "limit", &limit, "cursor", &cursor); err != nil {
			return nil, err
		}
		page, err := roots.Walk(context.Background(), tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: limit, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		entries, problems := []starlark.Value{}, []starlark.Value{}
		for _, e := range page.Entries {
			bytes += 20
			entries = append(entries, record(starlark.StringDict{"path": str(e.Path), "kind": str(string(e.Kind)), "size": starlark.MakeInt64(e.Size)}))
		}
		for _, p := range page.Problems {
			problems = append(problems, record(starlark.StringDict{"path": str(p.Path)}))
		}
		return record(starlark.StringDict{"entries": starlark.NewList(entries), "problems": starlark.NewList(problems), "next": str(page.Next)}), nil
	})
	readBuiltin := starlark.NewBuiltin("read", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		calls++
		var paths *starlark.List
		var cursor string
		if err := starlark.UnpackArgs("read", args, kwargs, "paths", &paths, "cursor", &cursor); err != nil {
			return nil, err
		}
		r := tree.ReadRequest{MaxBytes: tree.MaxTextBytes, Cursor: cursor}
		for p := range paths.Elements() {
			r.Ranges = append(r.Ranges, tree.Range{Path: string(p.(starlark.String))})
		}
		page, err := roots.Read(context.Background(), r)
		if err != nil {
			return nil, err
		}
		texts := []starlark.Value{}
		for _, x := range page.Texts {
			bytes += 80
			texts = append(texts, record(starlark.StringDict{"path": str(x.Path), "error": starlark.Bool(x.Error != nil), "binary": starlark.Bool(x.Binary),
				"text": str(x.Text), "complete": starlark.Bool(x.Complete)}))
		}
		return record(starlark.StringDict{"files": starlark.NewList(texts), "next": str(page.Next)}), nil
	})
	predeclared := starlark.StringDict{"files": starlarkstruct.FromStringDict(starlark.String("files"), starlark.StringDict{"tree": treeBuiltin, "read": readBuiltin})}
	thread := &starlark.Thread{Name: "explore"}
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	globals, err := starlark.ExecFileOptions(options, thread, "explore.star", source, predeclared)
	if err != nil {
		t.Fatal(err)
	}
	value, err := starlark.Call(thread, globals["main"], nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := starlark.Call(thread, starjson.Module.Members["encode"], starlark.Tuple{value}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text.(starlark.String)), thread.ExecutionSteps(), calls, bytes
}

func TestExplorePlain(t *testing.T) {
	for name, dir := range map[string]func(*testing.T) string{
		"tools": toolsDirectory,
		"self":  func(*testing.T) string { return "../.." },
	} {
		t.Run(name, func(t *testing.T) {
			dir := dir(t)
			begin := time.Now()
			text, steps, calls, bytes := runPlain(t, dir)
			t.Logf("%v, %d steps, %d calls, about %d bytes of results, %d bytes of JSON", time.Since(begin), steps, calls, bytes, len(text))
			var got exploration
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(computeExploration(t, dir), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
