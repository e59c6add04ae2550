package codegen_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/shaped"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// pagedHandler has three pages of two entries each, and a page of its own that
// leads to itself.
type pagedHandler struct {
	shaped.Handlers
	rows  int // of each page of shaped.cut_pages
	calls atomic.Int64
}

func (h *pagedHandler) Pages(_ context.Context, in shaped.PagesInput) (out shaped.PagesOutput, err error) {
	h.calls.Add(1)
	n := 0
	switch cursor := in.Cursor.Value; {
	case in.Owner.Value == "nobody":
		return out, runtime.Disclose("gone", "nobody has entries")
	case in.Owner.Value == "loop":
		out.Next = canon.NotNull("again")
	case in.Cursor.Present:
		if n, err = strconv.Atoi(cursor); err != nil {
			return out, err
		}
	}
	for i := range 2 {
		out.Entries = append(out.Entries, shaped.PagesOutputEntriesItem{Name: fmt.Sprintf("%s%d", in.Owner.Value, 2*n+i)})
	}
	if n < 2 && !out.Next.Valid {
		out.Next = canon.NotNull(strconv.Itoa(n + 1))
	}
	return out, nil
}

func (h *pagedHandler) CutPages(_ context.Context, in shaped.CutPagesInput) (shaped.CutPagesOutput, error) {
	h.calls.Add(1)
	out := shaped.CutPagesOutput{Rows: make(types.Rows, h.rows)}
	for i := range out.Rows {
		out.Rows[i] = int64(in.From.Value)
	}
	if in.From.Value < 1<<60+2 {
		out.To = canon.Some(max(in.From.Value, 1<<60) + 1)
	}
	return out, nil
}

// KeyPages has a page for each level, and an empty cursor at the end.
func (h *pagedHandler) KeyPages(_ context.Context, in types.LevelQuery) (types.LevelPage, error) {
	if !in.Level.Present {
		return types.LevelPage{Paths: []types.Path{"/a"}, Level: canon.Some(canon.NotNull(types.Level("high")))}, nil
	}
	return types.LevelPage{Paths: []types.Path{"/b"}}, nil
}

func TestPages(t *testing.T) {
	h := &pagedHandler{rows: 1}
	s := shapedServer(t, h)
	for _, test := range []struct {
		name, source string
		want         string // result
		err          error
		text         string // of the error
		calls        int
	}{
		{"all", `pages(shaped.pages)`, `{"items":[{"name":"0"},{"name":"1"},{"name":"2"},{"name":"3"},{"name":"4"},{"name":"5"}],"truncated":false,"next":null}`, nil, "", 3},
		{"some", `pages(shaped.pages, max = 1, owner = "x")`, `{"items":[{"name":"x0"},{"name":"x1"}],"truncated":true,"next":"1"}`, nil, "", 1},
		{"on from there", `pages(shaped.pages, max = 2, cursor = "1")`, `{"items":[{"name":"2"},{"name":"3"},{"name":"4"},{"name":"5"}],"truncated":false,"next":null}`, nil, "", 2},
		{"by name", `pages(shaped.pages, owner = "x").items[5].name`, `"x5"`, nil, "", 3},
		{"at once", `[r.items[0].name for r in parallel([lambda: pages(shaped.pages, owner = "x"), lambda: pages(shaped.pages, owner = "z")])]`, `["x0","z0"]`, nil, "", 6},
		{"as an attempt", `attempt(pages, shaped.pages, owner = "nobody").error.code`, `"gone"`, nil, "", 1},
		{"one page is one call", `shaped.pages().next`, `"1"`, nil, "", 1},
		{"no end", `pages(shaped.pages, owner = "loop")`, "", runtime.ErrProgramFailed, `answered with the cursor "again" twice`, 2},
		{"failure", `pages(shaped.pages, owner = "nobody")`, "", runtime.ErrCapabilityFailed, "nobody has entries", 1},
		{"wrong argument", `pages(shaped.pages, ownr = "x")`, "", runtime.ErrInvalidArguments, "did you mean owner", 1},
		{"no pages", `pages(shaped.keep)`, "", runtime.ErrProgramFailed, "shaped.keep answers in one piece", 0},
		{"no capability", `pages(sum)`, "", runtime.ErrProgramFailed, "pages takes a capability, as in pages(records.list, max=10", 0},
		{"no function", `pages("shaped.pages")`, "", runtime.ErrProgramFailed, "pages takes a capability", 0},
		{"nothing", `pages()`, "", runtime.ErrProgramFailed, "got 0 positional arguments", 0},
		{"none at all", `pages(shaped.pages, max = 0)`, "", runtime.ErrProgramFailed, "an int from 1 to 1000", 0},
		{"too many", `pages(shaped.pages, max = 1001)`, "", runtime.ErrProgramFailed, "an int from 1 to 1000", 0},
		{"not a number", `pages(shaped.pages, max = "2")`, "", runtime.ErrProgramFailed, "an int from 1 to 1000", 0},
		{"integers", `pages(shaped.cut_pages)`, `{"items":[0,"1152921504606846977","1152921504606846978"],"truncated":false,"next":null}`, nil, "", 3},
		{"an integer", `pages(shaped.cut_pages, max = 1).next == (1 << 60) + 1`, `true`, nil, "", 1},
		{"one, not cut", `shaped.cut_pages().next == (1 << 60) + 1`, `true`, nil, "", 1},
		{"a named type", `pages(shaped.key_pages)`, `{"items":["/a","/b"],"truncated":false,"next":null}`, nil, "", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			x, err := s.Execute(t.Context(), authz.Local(), test.source)
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %v, want %q", err, test.text)
			}
			if string(x.Result) != test.want {
				t.Errorf("result\n got %s\nwant %s", x.Result, test.want)
			}
			if n := len(x.Receipt.Calls); n != test.calls {
				t.Errorf("%d calls, want %d", n, test.calls)
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		h.rows = 3
		x, err := s.Execute(t.Context(), authz.Local(), "[shaped.cut_pages(), pages(shaped.cut_pages)]")
		const want = `[{"items":[0,0],"truncated":true,"next":null},{"items":[0,0],"truncated":true,"next":null}]`
		if err != nil || string(x.Result) != want {
			t.Errorf("result\n got %s\nwant %s\n%v", x.Result, want, err)
		}
	})
}

// The generated iterator reads the same pages as programs do.
func TestPagesInGo(t *testing.T) {
	h := &pagedHandler{rows: 1}
	var names []string
	for item, err := range shaped.PagesPages(t.Context(), h.Pages, shaped.PagesInput{Owner: canon.Some("x")}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, item.Name)
	}
	if diff := cmp.Diff([]string{"x0", "x1", "x2", "x3", "x4", "x5"}, names); diff != "" {
		t.Error(diff)
	}
	h.calls.Store(0)
	for range shaped.PagesPages(t.Context(), h.Pages, shaped.PagesInput{}) {
		break
	}
	if n := h.calls.Load(); n != 1 {
		t.Errorf("%d calls for the first item", n)
	}
	var rows []int64
	for row, err := range shaped.CutPagesPages(t.Context(), h.CutPages, shaped.CutPagesInput{}) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if diff := cmp.Diff([]int64{0, 1<<60 + 1, 1<<60 + 2}, rows); diff != "" {
		t.Error(diff)
	}
	var paths []types.Path
	for path, err := range shaped.KeyPagesPages(t.Context(), h.KeyPages, types.LevelQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if diff := cmp.Diff([]types.Path{"/a", "/b"}, paths); diff != "" {
		t.Error(diff)
	}
	for owner, want := range map[string]error{"loop": runtime.ErrEndlessPages, "nobody": nil} {
		var last error
		n := 0
		for _, err := range shaped.PagesPages(t.Context(), h.Pages, shaped.PagesInput{Owner: canon.Some(owner)}) {
			last = err
			n++
		}
		if last == nil || want != nil && !errors.Is(last, want) || n > 5 {
			t.Errorf("%s: %d items, then %v", owner, n, last)
		}
	}
}
