package python

import (
	"strings"
	"testing"

	"go.starlark.net/syntax"
)

// both is source that Python and Starlark read alike.
var both = strings.Repeat(`
def total(orders, limit = 20):
    """Sums what is open."""
    seen = {}
    for o in orders[:limit]:
        if o.status == "open" and not o.hidden:
            seen[o.id] = seen.get(o.id, 0) + o.price * o.count - (o.discount or 0)
        elif o.status in ["closed", "lost"]:
            continue
    return [(k, v) for k, v in sorted(seen.items(), key = lambda p: -p[1]) if v > 10]
`, 20)

// BenchmarkParse is held against the parser that programs went through before.
func BenchmarkParse(b *testing.B) {
	b.Run("python", func(b *testing.B) {
		b.SetBytes(int64(len(both)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse(both); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("starlark", func(b *testing.B) {
		b.SetBytes(int64(len(both)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := (&syntax.FileOptions{}).Parse("program", both, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
