package search_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/search"
)

// suite finds the shared retrieval suite beside the repository.
func suite(tb testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for range 6 {
		path := filepath.Join(dir, "shared", "suites", "retrieval")
		if _, err := os.Stat(path); err == nil {
			return path
		}
		dir = filepath.Dir(dir)
	}
	tb.Skip("the shared retrieval suite is not beside this repository")
	return ""
}

func lines[T any](tb testing.TB, r io.Reader) []T {
	tb.Helper()
	var out []T
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			tb.Fatal(err)
		}
		out = append(out, v)
	}
	if err := s.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

func open(tb testing.TB, path string) io.Reader {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

type tool struct {
	ID, Name, Description string
	Params                [][2]string
}

type question struct {
	Query    string
	Relevant []string
}

// corpus indexes the tools whose id starts with prefix.
func corpus(tb testing.TB, prefix string) (ids []string, x *search.Index) {
	dir := suite(tb)
	z, err := gzip.NewReader(open(tb, filepath.Join(dir, "corpus.jsonl.gz")))
	if err != nil {
		tb.Fatal(err)
	}
	var entries []search.Entry
	for _, t := range lines[tool](tb, z) {
		if !strings.HasPrefix(t.ID, prefix) {
			continue
		}
		e := search.Entry{Name: t.Name, Description: t.Description}
		for _, p := range t.Params {
			e.Parameters = append(e.Parameters, search.Parameter{Name: p[0], Description: p[1]})
		}
		entries, ids = append(entries, e), append(ids, t.ID)
	}
	return ids, search.New(entries)
}

// The floor is below what was measured, so that it breaks on a regression and
// not on a rounding.
func TestRetrievalFloor(t *testing.T) {
	for _, set := range []struct {
		file, prefix string
		first, fifth float64
	}{
		{"queries.jsonl", "", 45, 75},
		{"queries_agent.jsonl", "livemcp/", 37, 58},
	} {
		ids, x := corpus(t, set.prefix)
		questions := lines[question](t, open(t, filepath.Join(suite(t), set.file)))
		var hit1, hit5 int
		for _, q := range questions {
			for i, h := range x.Search(q.Query, 5) {
				if slices.Contains(q.Relevant, ids[h.Entry]) {
					hit5++
					if i == 0 {
						hit1++
					}
					break
				}
			}
		}
		first, fifth := 100*float64(hit1)/float64(len(questions)), 100*float64(hit5)/float64(len(questions))
		t.Logf("%s: a relevant tool comes first for %.1f %%, among five for %.1f %%", set.file, first, fifth)
		if first < set.first || fifth < set.fifth {
			t.Errorf("%s: below the floor of %.1f %% and %.1f %%", set.file, set.first, set.fifth)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	_, x := corpus(b, "")
	questions := lines[question](b, open(b, filepath.Join(suite(b), "queries.jsonl")))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		x.Search(questions[i%len(questions)].Query, 20)
		i++
	}
}
