package tree_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/cmd/workspace/internal/tree"
)

// readAll returns the texts of all pages, joined by range, and the number of
// pages.
func readAll(t testing.TB, x *tree.Tree, r tree.ReadRequest) (texts []tree.Text, pages int) {
	t.Helper()
	open := false
	for {
		page, err := x.Read(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, text := range page.Texts {
			size += len(text.Text)
			if !utf8.ValidString(text.Text) {
				t.Fatalf("%s: a text is not UTF-8", text.Path)
			}
			if !open {
				texts = append(texts, text)
			} else {
				last := &texts[len(texts)-1]
				if text.Path != last.Path || !text.Binary && text.Error == nil && text.Offset != last.Offset+int64(len(last.Text)) {
					t.Fatalf("a piece of %s at %d follows one of %s that ends at %d", text.Path, text.Offset, last.Path, last.Offset+int64(len(last.Text)))
				}
				last.Text += text.Text
				last.Error, last.Binary, last.Complete = text.Error, text.Binary, text.Complete
			}
			open = !text.Complete
		}
		if size > max(r.MaxBytes, 8) {
			t.Fatalf("a page of %d bytes, allowed are %d", size, r.MaxBytes)
		}
		if pages++; pages > 10_000 {
			t.Fatal("reading does not end")
		}
		if r.Cursor = page.Next; r.Cursor == "" {
			if open {
				t.Fatal("the last text is not complete")
			}
			return texts, pages
		}
	}
}

func TestReadPages(t *testing.T) {
	files := map[string]string{
		"empty": "", "short": "one\ntwo\n", "unfinished": "one\ntwo", "crlf": "a\r\nb\r\n", "newline": "\n",
		"long line": strings.Repeat("é€𝄞", 500), "lines": strings.Repeat("line of text\n", 200), "bom": "\ufeffx\n",
	}
	x := open(t, build(t, files))
	var ranges []tree.Range
	for _, p := range []string{"short", "empty", "long line", "unfinished", "lines", "crlf", "newline", "bom", "short"} {
		ranges = append(ranges, tree.Range{Path: p})
	}
	for _, maxBytes := range []int{1, 2, 3, 4, 5, 7, 8, 13, 64, 1000, 4096, tree.MaxTextBytes} {
		texts, pages := readAll(t, x, tree.ReadRequest{Ranges: ranges, MaxBytes: maxBytes})
		if len(texts) != len(ranges) {
			t.Fatalf("%d bytes a page: %d texts, want %d", maxBytes, len(texts), len(ranges))
		}
		for i, text := range texts {
			if text.Path != ranges[i].Path || text.Text != files[text.Path] || text.Error != nil || text.Binary || text.Size != int64(len(text.Text)) || text.FirstLine != 1 {
				t.Errorf("%d bytes a page: %s comes back as %+v", maxBytes, ranges[i].Path, text)
			}
		}
		if maxBytes == tree.MaxTextBytes && pages != 1 {
			t.Errorf("%d pages, want one", pages)
		}
	}
}

func TestReadPacking(t *testing.T) {
	x := open(t, build(t, map[string]string{"a": strings.Repeat("a\n", 30), "b": strings.Repeat("b\n", 30), "c": strings.Repeat("c\n", 100)}))
	r := tree.ReadRequest{Ranges: []tree.Range{{Path: "a"}, {Path: "b"}, {Path: "c"}}, MaxBytes: 100}
	var got []string
	for {
		page, err := x.Read(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range page.Texts {
			got = append(got, fmt.Sprintf("%s %d+%d lines at %d %v", text.Path, text.FirstLine, text.Lines, text.Offset, text.Complete))
		}
		if got = append(got, "|"); page.Next == "" {
			break
		}
		r.Cursor = page.Next
	}
	want := []string{"a 1+30 lines at 0 true", "|", "b 1+30 lines at 0 true", "|", "c 1+50 lines at 0 false", "|", "c 51+50 lines at 100 true", "|"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadRanges(t *testing.T) {
	x := open(t, build(t, map[string]string{"f": "one\ntwo\r\nthree\nfour", "u": "aé€𝄞z", "e": "", "big": strings.Repeat("0123456\n", 20_000)}))
	for name, test := range map[string]struct {
		r             tree.Range
		want          string
		offset, first int64
	}{
		"first line":      {tree.Range{Path: "f", FirstLine: 1, LastLine: 1}, "one\n", 0, 1},
		"middle":          {tree.Range{Path: "f", FirstLine: 2, LastLine: 3}, "two\r\nthree\n", 4, 2},
		"to the end":      {tree.Range{Path: "f", FirstLine: 3}, "three\nfour", 9, 3},
		"from the start":  {tree.Range{Path: "f", LastLine: 2}, "one\ntwo\r\n", 0, 1},
		"past the end":    {tree.Range{Path: "f", FirstLine: 4, LastLine: 99}, "four", 15, 4},
		"behind":          {tree.Range{Path: "f", FirstLine: 9, LastLine: 99}, "", 19, 4},
		"empty file":      {tree.Range{Path: "e", FirstLine: 1, LastLine: 5}, "", 0, 1},
		"far":             {tree.Range{Path: "big", FirstLine: 19_999, LastLine: 19_999}, "0123456\n", 159_984, 19_999},
		"bytes":           {tree.Range{Path: "f", Offset: 4, Length: 3}, "two", 4, 0},
		"bytes from":      {tree.Range{Path: "f", Offset: 15}, "four", 15, 0},
		"bytes to":        {tree.Range{Path: "f", Length: 3}, "one", 0, 0},
		"bytes behind":    {tree.Range{Path: "f", Offset: 1000}, "", 1000, 0},
		"whole runes":     {tree.Range{Path: "u", Offset: 1, Length: 5}, "é€", 1, 0},
		"half at start":   {tree.Range{Path: "u", Offset: 2, Length: 4}, "€", 3, 0},
		"half at end":     {tree.Range{Path: "u", Offset: 0, Length: 2}, "a", 0, 0},
		"half at both":    {tree.Range{Path: "u", Offset: 2, Length: 3}, "", 3, 0},
		"inside one":      {tree.Range{Path: "u", Offset: 8, Length: 1}, "", 9, 0},
		"largest offset":  {tree.Range{Path: "u", Offset: 1<<53 - 1, Length: 1<<53 - 1}, "", 1<<53 - 1, 0},
		"largest lines":   {tree.Range{Path: "f", FirstLine: 1<<53 - 1, LastLine: 1<<53 - 1}, "", 19, 4},
		"all of the file": {tree.Range{Path: "u"}, "aé€𝄞z", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := x.Read(context.Background(), tree.ReadRequest{Ranges: []tree.Range{test.r}, MaxBytes: 1000})
			if err != nil {
				t.Fatal(err)
			}
			got := page.Texts[0]
			if got.Error != nil || got.Text != test.want || got.Offset != test.offset || got.FirstLine != test.first || !got.Complete || page.Next != "" {
				t.Errorf("got %+v, want %q at %d, line %d", got, test.want, test.offset, test.first)
			}
			if texts, _ := readAll(t, x, tree.ReadRequest{Ranges: []tree.Range{test.r}, MaxBytes: 1}); texts[0].Text != test.want {
				t.Errorf("in pieces: %q", texts[0].Text)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	x := open(t, build(t, map[string]string{"f": "text", "d/g": "x"}))
	ranges := []tree.Range{
		{Path: "f"}, {Path: "none"}, {Path: "d"}, {Path: "../f"}, {Path: "/f"}, {Path: ""}, {Path: `d\g`}, {Path: "f\x00"}, {Path: "./f"}, {Path: "f/g"},
		{Path: "f", FirstLine: 1, Offset: 1}, {Path: "f", FirstLine: 3, LastLine: 2}, {Path: "f", Offset: -1}, {Path: "f", LastLine: -1}, {Path: "d/g"},
	}
	want := " not_found not_file invalid invalid invalid invalid invalid invalid not_directory invalid invalid invalid invalid "
	page, err := x.Read(context.Background(), tree.ReadRequest{Ranges: ranges, MaxBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, text := range page.Texts {
		failed := tree.Code("")
		if text.Error != nil {
			failed = code(t, text.Error)
		}
		if text.Path != ranges[i].Path || !text.Complete {
			t.Errorf("%+v does not answer %+v", text, ranges[i])
		}
		got = append(got, string(failed))
	}
	if strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, " "), want)
	}
	for name, r := range map[string]tree.ReadRequest{
		"many":   {Ranges: make([]tree.Range, tree.MaxPaths+1), MaxBytes: 1},
		"none":   {Ranges: ranges},
		"large":  {Ranges: ranges, MaxBytes: tree.MaxTextBytes + 1},
		"cursor": {Ranges: ranges, MaxBytes: 1, Cursor: "zzzz"},
	} {
		if _, err := x.Read(context.Background(), r); code(t, err) != tree.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadBinary(t *testing.T) {
	half := strings.Repeat("text\n", 100)
	x := open(t, build(t, map[string]string{"nul": "a\x00b", "latin": "caf\xe9", "cut": "caf\xc3", "late": half + "\xff\xfe" + half, "png": "\x89PNG\r\n\x1a\n", "text": "ok"}))
	for _, maxBytes := range []int{1, 100, tree.MaxTextBytes} {
		var ranges []tree.Range
		for _, p := range []string{"nul", "latin", "cut", "late", "png", "text"} {
			ranges = append(ranges, tree.Range{Path: p})
		}
		texts, _ := readAll(t, x, tree.ReadRequest{Ranges: ranges, MaxBytes: maxBytes})
		if len(texts) != len(ranges) {
			t.Fatalf("%d texts", len(texts))
		}
		for _, text := range texts {
			if text.Error != nil || text.Binary != (text.Path != "text") || text.Size == 0 {
				t.Errorf("%d bytes a page: %+v", maxBytes, text)
			}
		}
	}
}

func TestReadChanged(t *testing.T) {
	dir := build(t, map[string]string{"f": strings.Repeat("x\n", 100), "g": "y"})
	x := open(t, dir)
	r := tree.ReadRequest{Ranges: []tree.Range{{Path: "f"}, {Path: "g"}}, MaxBytes: 50}
	page, err := x.Read(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(dir, "f"), time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	r.Cursor = page.Next
	if page, err = x.Read(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if len(page.Texts) != 2 || page.Texts[0].Error == nil || page.Texts[0].Error.Code != tree.Changed || page.Texts[1].Text != "y" {
		t.Errorf("got %+v", page)
	}
}

// TestReadScan looks for a line further into a file than a page reads.
func TestReadScan(t *testing.T) {
	dir := build(t, map[string]string{"g": "a\nb\n"})
	f, err := os.Create(filepath.Join(dir, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	x := open(t, dir)
	begin := time.Now()
	far := tree.Range{Path: "sparse", FirstLine: 5}
	texts, _ := readAll(t, x, tree.ReadRequest{Ranges: []tree.Range{{Path: "g", FirstLine: 2}, far, {Path: "g", FirstLine: 2}, {Path: "sparse"}}, MaxBytes: 1000})
	if texts[0].Text != "b\n" || texts[1].Error == nil || texts[1].Error.Code != tree.TooLarge || texts[2].Text != "b\n" || !texts[3].Binary || texts[3].Size != 1<<40 {
		t.Errorf("got %+v", texts)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestForgedCursors goes on at places that no page ended at.
func TestForgedCursors(t *testing.T) {
	dir := build(t, map[string]string{"a": strings.Repeat("é\n", 50), "b": "x"})
	x := open(t, dir)
	r := tree.ReadRequest{Ranges: []tree.Range{{Path: "a"}, {Path: "b"}}, MaxBytes: 20}
	page, err := x.Read(context.Background(), r)
	if err != nil || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	other := r
	other.Ranges = []tree.Range{{Path: "b"}, {Path: "a"}}
	other.Cursor = page.Next
	if _, err := x.Read(context.Background(), other); code(t, err) != tree.Invalid {
		t.Errorf("a cursor of another request: %v", err)
	}
	if _, err := x.Walk(context.Background(), tree.WalkRequest{Scope: tree.Scope{Path: "."}, Limit: 1, Cursor: page.Next}); code(t, err) != tree.Invalid {
		t.Errorf("a cursor of another capability: %v", err)
	}
	// The same request may ask for pages of another size.
	r.Cursor, r.MaxBytes = page.Next, 1000
	if page, err = x.Read(context.Background(), r); err != nil || len(page.Texts) != 2 {
		t.Errorf("a larger page: %+v, %v", page, err)
	}
}
