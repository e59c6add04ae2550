package program_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/fault"
)

// A failure is where the source's own text is, and its trace has the program's
// own functions only, however the program was lowered.
func TestPositions(t *testing.T) {
	for _, c := range []struct {
		name, source string
		line, column int
		trace        []string
	}{
		{"f-string", "x = 1\ny = f\"{x} and {x.foo}\"", 2, 18, []string{"line 2"}},
		{"f-string of several lines", "x = 1\ny = f\"\"\"a\n  {x.foo}\"\"\"", 3, 6, []string{"line 3"}},
		{"f-string in an f-string", "x = 1\nf\"{x:{x.foo}}\"", 2, 9, []string{"line 2"}},
		{"call in an f-string", "def f(x):\n  return x.foo\nf\"{f(1)}\"", 2, 12, []string{"line 3", "line 2, in f"}},
		{"try", "def f(x):\n  try:\n    return x.foo\n  except ValueError:\n    return 1\ndef main():\n  return f(1)", 3, 14, []string{"line 7, in main", "line 3, in f"}},
		{"nested try", "def f(x):\n  try:\n    try:\n      x = x.foo\n    finally:\n      x = 2\n  except KeyError:\n    x = 3\n  return x\nf(1)", 4, 13, []string{"line 10", "line 4, in f"}},
		{"except", "def f():\n  try:\n    raise KeyError('k')\n  except KeyError as e:\n    return e.foo\nf()", 5, 14, []string{"line 6", "line 5, in f"}},
		{"else of a try", "try:\n  x = 1\nexcept KeyError:\n  pass\nelse:\n  x.foo", 6, 5, []string{"line 6"}},
		{"finally", "try:\n  x = 1\nfinally:\n  x.foo", 4, 5, []string{"line 4"}},
		{"loop in a try", "try:\n  for i in range(3):\n    i.foo\nfinally:\n  pass", 3, 7, []string{"line 3"}},
		{"raise", "def f():\n  raise ValueError('no')\nf()", 2, 3, []string{"line 3", "line 2, in f"}},
		{"raised again", "def f():\n  raise ValueError('no')\ntry:\n  f()\nexcept ValueError:\n  raise", 2, 3, []string{"line 4", "line 2, in f"}},
		{"comprehension", "x = [1, 2]\ny = [\n  i.foo\n  for i in x]", 3, 5, []string{"line 3"}},
		{"condition of a comprehension", "x = [1, 2]\ny = [i for i in x\n  if i.foo]", 3, 8, []string{"line 3"}},
		{"set comprehension", "{i.foo for i in [1]}", 1, 4, []string{"line 1"}},
		{"value of a dict comprehension", "{i: i.foo for i in [1]}", 1, 7, []string{"line 1"}},
		{"call in a comprehension", "def f(x):\n  return x.foo\n[f(i) for i in [1]]", 2, 12, []string{"line 3", "line 2, in f"}},
		{"gathered call", "async def f(x):\n  return x.foo\nasync def main():\n  return await asyncio.gather(f(1), f(2))", 2, 12, nil},
		{"parallel call", "def f():\n  return 1 .foo\ndef main():\n  return parallel([f])", 2, 13, []string{"line 4, in main", "line 2, in f"}},
		{"key of a sort", "def f(x):\n  return x.foo\ndef main():\n  return sorted([1], key=f)", 2, 12, []string{"line 4, in main", "line 2, in f"}},
		{"chained comparison", "x = 1\n0 < 1 < x.foo", 2, 11, []string{"line 2"}},
		{"slice", "x = [1]\nx[1:'a']", 2, 2, []string{"line 2"}},
		{"unpacking", "a, b = [1,\n  2, 3]", 1, 1, []string{"line 1"}},
		{"augmented assignment", "x = 1\nx += 'a'", 2, 3, []string{"line 2"}},
		{"default of a parameter", "x = 1\ndef f(a=x.foo):\n  pass", 2, 11, []string{"line 2"}},
		{"nested function", "def f(x):\n  def g():\n    return x.foo\n  return g()\nf(1)", 3, 14, []string{"line 5", "line 4, in f", "line 3, in g"}},
		{"missing argument", "def f(a, b):\n  pass\ndef main():\n  return f(1)", 4, 11, []string{"line 4, in main"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := run(t, c.source)
			if f == nil || f.Class != fault.ProgramError {
				t.Fatalf("got %+v", f)
			}
			if f.Line != c.line || f.Column != c.column {
				t.Errorf("at line %d, column %d, want %d, %d: %v", f.Line, f.Column, c.line, c.column, f)
			}
			if c.trace != nil && !cmp.Equal(f.Trace, c.trace) {
				t.Errorf("trace %q, want %q", f.Trace, c.trace)
			}
			if strings.Contains(strings.Join(f.Trace, ""), "$") {
				t.Errorf("a name of the lowering's in %q", f.Trace)
			}
		})
	}
}
