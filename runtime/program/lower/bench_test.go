package lower_test

import (
	"strings"
	"testing"

	"github.com/capgen/capgen/internal/gate"
	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/python"
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

// BenchmarkGateFrontEnd bounds reading and lowering a program by Starlark's own
// reading of it.
func BenchmarkGateFrontEnd(b *testing.B) {
	gate.Ratio(b, 3, func() {
		m, err := python.Parse(both)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := lower.Lower(m, lower.Options{}); err != nil {
			b.Fatal(err)
		}
	}, func() {
		if _, err := lower.FileOptions().Parse(lower.FileName, both, 0); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkFrontEnd splits what BenchmarkGateFrontEnd bounds.
func BenchmarkFrontEnd(b *testing.B) {
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(both)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := python.Parse(both); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("lower", func(b *testing.B) {
		m, err := python.Parse(both)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(both)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := lower.Lower(m, lower.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("starlark", func(b *testing.B) {
		b.SetBytes(int64(len(both)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := lower.FileOptions().Parse(lower.FileName, both, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
