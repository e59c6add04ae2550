package program_test

import (
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/program"
)

// BenchmarkBounded compares operations of the language with those of the
// interpreter as it is, in the same run: ×plain is how many times as long ours
// take.
func BenchmarkBounded(b *testing.B) {
	loop := func(setup, body string) string {
		return "def main():\n  s = 'a line of text, as there are many'\n  l = [1, 2, 3, 4, 5, 6, 7, 8]\n  d = {'k': 1, 'm': 2}\n  t = 0\n  k = 'k'\n" +
			"  " + setup + "\n  for i in range(20000):\n    " + body + "\n  return str(t)\n"
	}
	bindings := table(b)
	l := limits()
	l.Steps = 1 << 40
	for _, c := range []struct{ name, source string }{
		{"len", loop("", "t = len(l)")},
		{"index", loop("", "t = l[i % 8]")},
		{"key", loop("", "t = d[k]")},
		{"set item", loop("", "d[k] = i")},
		{"slice", loop("", "t = l[1:4]")},
		{"iterate", loop("", "for x in l: t = x")},
		{"in dict", loop("", "t = k in d")},
		{"in list", loop("x = 3", "t = x in l")},
		{"method", loop("", "t = s.upper()")},
		{"split", loop("", "t = s.split(',')")},
		{"get", loop("", "t = d.get(k, 0)")},
		{"append", loop("x = []", "x.append(i)")},
		{"format", loop("", "t = '{} of {}'.format(i, k)")},
		{"add", loop("", "t = t + i")},
		{"arithmetic", loop("", "t = (t + i * 3) % 1000 - 7")},
		{"concatenate", loop("", "t = s + k")},
		{"compare", loop("", "t = 1 if i < t or i == t else 0")},
		{"call", loop("f = lambda x: x + 1", "t = f(i)")},
		{"program", "def main():\n  words = ('the quick brown fox jumps over the lazy dog ' * 200).split()\n  counts = {}\n  for w in words:\n    counts[w] = counts.get(w, 0) + 1\n" +
			"  rows = sorted(counts.items(), key = lambda p: (-p[1], p[0]))\n  out = []\n  for word, n in rows:\n    if n > 10 and word not in ('the', 'a'):\n      out.append('%s: %d' % (word, n))\n  return '\\n'.join(out)\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ours, theirs time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := plain(c.source); err != nil {
					b.Fatal(err)
				}
				theirs += time.Since(began)
				began = time.Now()
				if _, f := program.Run(program.Program{Source: c.source, Limits: l}, bindings, &host{t: b}); f != nil {
					b.Fatal(f)
				}
				ours += time.Since(began)
			}
			b.ReportMetric(ours.Seconds()/theirs.Seconds(), "×plain")
		})
	}
}
