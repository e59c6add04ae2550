package program_test

import (
	"testing"

	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

// FuzzRun: whatever the source, Run returns a value or a fault that says
// where, and does not panic.
func FuzzRun(f *testing.F) {
	for _, source := range []string{
		"1", "def main():\n  return 1\nmain()", "result = records.lookup(key = \"a\").items", "x = [y for y in range(3) if y]",
		"if __name__ == \"__main__\":\n  main()\ndef main(*, a = 1):\n  return a", "f\"a{1}\"", "a.b.c.leaf(x = 1)", "sum(x for x in y)",
		"lambda: 1", "recrods.lookup()", "x = 'é'[:1]\nx", "def f():\n  return f()\nf()", "{1: 2}", "load(\"a\", \"b\")", "kinds.all(filter = {\"owner\": 1})",
		"class A: pass", "try:\n  x\nexcept: y", "\x00", "\xff", "x = \"\"\"", "print(main())", "a = b = c", "*x", "def main(", "-0.0", "1 << 70",
	} {
		f.Add(source)
	}
	parsed := table(f)
	f.Fuzz(func(t *testing.T, source string) {
		l := limits()
		l.Steps, l.SourceBytes = 20_000, 4096
		r, failure := program.Run(program.Program{Source: source, Limits: l}, parsed, &host{t: t})
		switch {
		case failure == nil:
			toJSON(t, r.Value)
		case failure.Class == fault.Internal:
			t.Fatalf("%q: %v", source, failure)
		case failure.Message == "":
			t.Fatalf("%q: a fault that says nothing", source)
		case r.Value != nil:
			t.Fatalf("%q: a value beside a fault", source)
		}
	})
}
