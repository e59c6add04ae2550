package program_test

import (
	"strings"
	"testing"

	"github.com/capgen/capgen/internal/gate"
	"github.com/capgen/capgen/runtime/program"
)

// BenchmarkGateStrings bounds what programs do with ASCII strings by the
// interpreter's own strings, which count bytes.
func BenchmarkGateStrings(b *testing.B) {
	bindings := table(b)
	l := limits()
	l.Steps = 1 << 40
	for _, c := range []struct{ name, body string }{
		{"len", "t = len(s)"},
		{"index", "t = s[7]"},
		{"slice", "t = s[2:20]"},
		{"iterate", "for c in s%s:\n      t = c"},
		{"in", "t = 'text' in s"},
		{"upper", "t = s.upper()"},
		{"find", "t = s.find('there')"},
		{"split", "t = s.split(' ')"},
		{"replace", "t = s.replace('a', 'b')"},
		{"startswith", "t = s.startswith('a line')"},
		{"strip", "t = s.strip()"},
		{"join", "t = ', '.join(words)"},
		{"concatenate", "t = s + 'x'"},
	} {
		source := func(elements string) string {
			return "def main():\n  s = ' a line of text, as there are many in what programs are given to read: '\n  words = ['a', 'line', 'of', 'text']\n  t = ''\n" +
				"  for i in range(2000):\n    " + strings.Replace(c.body, "%s", elements, 1) + "\n  return str(t)\n"
		}
		ours, theirs := source(""), source(".elems()")
		b.Run(c.name, func(b *testing.B) {
			gate.Ratio(b, 1.5, func() {
				if _, f := program.Run(program.Program{Source: ours, Limits: l}, bindings, &host{t: b}); f != nil {
					b.Fatal(f)
				}
			}, func() {
				if _, err := plain(theirs); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
