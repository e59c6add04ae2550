package search_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/capgen/capgen/runtime/search"
)

// folder is another folder of the shape of the shared retrieval suite.
var folder = flag.String("dir", "", "folder with corpus.jsonl or corpus.jsonl.gz, queries.jsonl and queries_agent.jsonl, if there are such")

// suite finds the shared retrieval suite beside the repository.
func suite(tb testing.TB) string {
	if *folder != "" {
		return *folder
	}
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
	// Phrases are search phrases; the shared suite has none.
	Phrases []string
}

type question struct {
	ID, Set, Query string
	// Task is what several queries of a model belong to.
	Task     string
	Relevant []string
}

// tuned tells the half of the queries on which the parameters of the ranking
// were chosen. Queries of one task are in one half.
func (q question) tuned() bool {
	h := fnv.New32a()
	if q.Task != "" {
		h.Write([]byte(q.Task))
	} else {
		h.Write([]byte(q.ID))
	}
	return h.Sum32()>>7&1 == 0
}

// document is a tool as a manifest would declare it: the first sentence of its
// description is the summary.
func (t tool) document() search.Document {
	texts := search.Texts{Name: t.Name, Summary: t.Description, Phrases: t.Phrases}
	for i, c := range []byte(t.Description) {
		if end := i + 1; c == '\n' || c == '.' && (end == len(t.Description) || t.Description[end] == ' ' || t.Description[end] == '\n') {
			texts.Summary, texts.Description = t.Description[:end], t.Description[end:]
			break
		}
	}
	for _, p := range t.Params {
		texts.Parameters = append(texts.Parameters, search.Parameter{Name: p[0], Description: p[1]})
	}
	return search.Document{Name: t.Name, Entry: search.Analyze(texts)}
}

// packed opens a file, or that of the name with .gz.
func packed(tb testing.TB, path string) io.Reader {
	if _, err := os.Stat(path); err == nil {
		return open(tb, path)
	}
	z, err := gzip.NewReader(open(tb, path+".gz"))
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

// corpus holds the tools of a folder whose id starts with prefix.
func corpus(tb testing.TB, dir, prefix string) (ids []string, documents []search.Document) {
	for _, t := range lines[tool](tb, packed(tb, filepath.Join(dir, "corpus.jsonl"))) {
		if strings.HasPrefix(t.ID, prefix) {
			documents, ids = append(documents, t.document()), append(ids, t.ID)
		}
	}
	return ids, documents
}

// figures add up over queries.
type figures struct{ n, ndcg, mrr, recall1, recall5, recall10, hit1, hit3 float64 }

// add scores one answer: the ranks, from 1, at which relevant tools stand.
func (f *figures) add(ranks []int, relevant int) {
	f.n++
	ideal, gain, all := 0.0, 0.0, float64(relevant)
	for i := range min(10, relevant) {
		ideal += 1 / math.Log2(float64(i+2))
	}
	for _, rank := range ranks {
		if rank <= 10 {
			gain += 1 / math.Log2(float64(rank+1))
			f.recall10 += 1 / all
		}
		if rank <= 5 {
			f.recall5 += 1 / all
		}
		if rank == 1 {
			f.recall1 += 1 / all
		}
	}
	f.ndcg += gain / ideal
	if len(ranks) > 0 {
		f.mrr += 1 / float64(ranks[0])
		if ranks[0] == 1 {
			f.hit1++
		}
		if ranks[0] <= 3 {
			f.hit3++
		}
	}
}

// percent are the figures as a table has them.
func (f figures) percent() figures {
	k := 100 / max(1, f.n)
	return figures{f.n, k * f.ndcg, k * f.mrr, k * f.recall1, k * f.recall5, k * f.recall10, k * f.hit1, k * f.hit3}
}

// deep is how far down a relevant tool is looked for.
const deep = 100

// measure runs the queries of a file against the tools whose ids start with
// prefix, by set and over all.
func measure(t *testing.T, dir, file, prefix string) map[string]*figures {
	ids, documents := corpus(t, dir, prefix)
	x := search.New(documents)
	out := map[string]*figures{}
	for _, q := range lines[question](t, open(t, filepath.Join(dir, file))) {
		var ranks []int
		for i, h := range x.Search(q.Query, search.Options{Max: deep}) {
			if slices.Contains(q.Relevant, ids[h.Document]) {
				ranks = append(ranks, i+1)
			}
		}
		sets := []string{q.Set, "all"}
		switch {
		case dir == *folder: // somebody's own
		case q.tuned():
			sets = append(sets, "half for tuning")
		default:
			sets = append(sets, "half for reporting")
		}
		for _, set := range sets {
			if out[set] == nil {
				out[set] = new(figures)
			}
			out[set].add(ranks, len(q.Relevant))
		}
	}
	return out
}

// TestRetrieval prints what `make retrieval` shows, and fails below floors that
// lie under what was measured, so that they break on a regression and not on a
// rounding.
func TestRetrieval(t *testing.T) {
	for _, set := range []struct {
		title, file, prefix string
		floor               figures
	}{
		{"queries of all sets, over all tools", "queries.jsonl", "", figures{ndcg: 68, mrr: 70, recall10: 76}},
		{"queries of a model to a tool search, over livemcp", "queries_agent.jsonl", "livemcp/", figures{hit1: 41, hit3: 57}},
	} {
		dir := suite(t)
		if _, err := os.Stat(filepath.Join(dir, set.file)); *folder != "" && os.IsNotExist(err) {
			t.Logf("%s: no %s", set.title, set.file)
			continue
		}
		table := measure(t, dir, set.file, set.prefix)
		t.Logf("%s\n%s", set.title, tabulated(table))
		if all := table["all"].percent(); *folder == "" &&
			(all.ndcg < set.floor.ndcg || all.mrr < set.floor.mrr || all.recall10 < set.floor.recall10 || all.hit1 < set.floor.hit1 || all.hit3 < set.floor.hit3) {
			t.Errorf("%s: %+v is below the floor %+v", set.title, all, set.floor)
		}
	}
}

func tabulated(table map[string]*figures) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "queries\tnDCG@10\tMRR\tR@1\tR@5\tR@10\thit@1\thit@3\t\t")
	for _, name := range slices.Sorted(maps.Keys(table)) {
		f := table[name].percent()
		fmt.Fprintf(w, "%.0f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t  %s\t\n",
			f.n, f.ndcg, f.mrr, f.recall1, f.recall5, f.recall10, f.hit1, f.hit3, name)
	}
	w.Flush() // a strings.Builder takes everything
	return b.String()
}

// TestPhrases holds the figures of the how-to on search phrases.
func TestPhrases(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/write-search-phrases.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"before", "after"} {
		f := measure(t, filepath.Join("testdata", "phrases", part), "queries.jsonl", "")["all"].percent()
		row := fmt.Sprintf("| %s | %.1f | %.1f | %.1f |", part, f.mrr, f.hit1, f.hit3)
		if !strings.Contains(string(page), row) {
			t.Errorf("the page lacks %q", row)
		}
	}
}
