package search_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/capgen/capgen/internal/gate"
	"github.com/capgen/capgen/runtime/search"
)

// queries of the shared suite that a server would take.
func queries(tb testing.TB) []string {
	var out []string
	for _, q := range lines[question](tb, open(tb, filepath.Join(suite(tb), "queries.jsonl"))) {
		if len(q.Query) <= 4<<10 {
			out = append(out, q.Query)
		}
	}
	return out
}

// BenchmarkSearch ranks the suite's queries over all its tools. p50 and p99
// are of single queries.
func BenchmarkSearch(b *testing.B) {
	_, documents := corpus(b, suite(b), "")
	x, list := search.New(documents), queries(b)
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		x.Search(list[i%len(list)], search.Options{Max: 11})
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkGateSearch bounds a search by the plainest code that reads the same
// postings: a map from documents to sums.
func BenchmarkGateSearch(b *testing.B) {
	_, documents := corpus(b, suite(b), "")
	x, list := search.New(documents), queries(b)
	scans := make([]func() map[int32]float32, len(list))
	for i, q := range list {
		scans[i] = search.Scan(x, q)
	}
	gate.Ratio(b, 5, func() {
		for _, q := range list {
			x.Search(q, search.Options{Max: 11})
		}
	}, func() {
		for _, scan := range scans {
			scan()
		}
	})
}

// BenchmarkNew builds an index of 10,000 entries: the suite's tools, and some
// of them once more. The memory is what the index holds when it is done.
func BenchmarkNew(b *testing.B) {
	_, documents := corpus(b, suite(b), "")
	for i := 0; len(documents) < 10_000; i++ {
		d := documents[i]
		d.Name = fmt.Sprintf("more.%s%d", d.Name, i)
		documents = append(documents, d)
	}
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	x := search.New(documents)
	size := held() - before
	b.ReportAllocs()
	for b.Loop() {
		x = search.New(documents)
	}
	b.ReportMetric(float64(size)/float64(len(documents)), "B/capability")
	runtime.KeepAlive(x)
}
