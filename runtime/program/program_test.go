package program_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

// limits are generous enough for every program that is meant to succeed.
func limits() program.Limits {
	return program.Limits{Steps: 1_000_000, Calls: 10, Depth: 32, ValueBytes: 1 << 20, ResultBytes: 8 << 20, SourceBytes: 64 << 10, Parallel: 8}
}

// table holds one capability of every kind of parameter, and three namespaces.
func table(t testing.TB) *binding.Table {
	t.Helper()
	str := binding.Shape{Kind: binding.String, MaxLength: 1000}
	integer := func(low, high int64) binding.Shape {
		return binding.Shape{Kind: binding.Integer, Minimum: low, Maximum: high}
	}
	record := binding.Shape{Kind: binding.Object, Fields: []binding.Field{
		{Name: "zeta", Shape: str, Required: true},
		{Name: "count", Shape: integer(-1<<53+1, 1<<53-1), Required: true},
		{Name: "ratio", Shape: binding.Shape{Kind: binding.Number}, Required: true},
		{Name: "note", Shape: str},
		{Name: "items", Shape: binding.Shape{Kind: binding.Array, MaxLength: 100, Items: &str}, Required: true},
	}}
	capabilities := []binding.Capability{
		{ID: "r.lookup", Name: "records.lookup", Output: record, Input: []binding.Field{
			{Name: "key", Shape: str, Required: true},
			{Name: "limit", Shape: integer(1, 100), Default: "20"},
			{Name: "glob", Shape: binding.Shape{Kind: binding.String, MaxLength: 10}},
		}},
		{ID: "all.kinds", Name: "kinds.all", Output: integer(-100, 100), Input: []binding.Field{
			{Name: "s", Shape: binding.Shape{Kind: binding.String, MinLength: 2, MaxLength: 4}},
			{Name: "e", Shape: binding.Shape{Kind: binding.String, MaxLength: 4, Enum: []string{"up", "down"}}},
			{Name: "p", Shape: binding.Shape{Kind: binding.String, MaxLength: 9, Pattern: "^[a-z]+$"}},
			{Name: "i", Shape: binding.Shape{Kind: binding.Integer, Minimum: -5, Maximum: 50, MultipleOf: "5"}},
			{Name: "n", Shape: binding.Shape{Kind: binding.Number, Range: &binding.Range{Min: "0", Max: "1", ExclusiveMax: true}}},
			{Name: "x", Shape: binding.Shape{Kind: binding.Number}},
			{Name: "b", Shape: binding.Shape{Kind: binding.Boolean}},
			{Name: "tags", Shape: binding.Shape{Kind: binding.Array, MaxLength: 3, Items: &str}},
			{Name: "filter", Shape: binding.Shape{Kind: binding.Object, Fields: []binding.Field{
				{Name: "owner", Shape: str, Required: true},
				{Name: "ids", Shape: binding.Shape{Kind: binding.Array, MaxLength: 9, Items: &binding.Shape{Kind: binding.Integer, Maximum: 9}}},
			}}},
			{Name: "record", Shape: record},
			{Name: "set", Shape: binding.Shape{Kind: binding.Array, MaxLength: 9, Unique: true, Items: &binding.Shape{Kind: binding.Opaque}}},
		}},
		{ID: "deep", Name: "a.b.c.leaf", Output: str},
		{ID: "a.b.other", Name: "a.b.other", Output: str},
		{ID: "pages", Name: "sites.get", Output: binding.Shape{Kind: binding.Object, Fields: []binding.Field{
			{Name: "rows", Required: true, Shape: binding.Shape{Kind: binding.Array, MaxLength: 9, Items: &binding.Shape{
				Kind: binding.Object, Fields: []binding.Field{{Name: "word", Shape: str, Required: true}},
			}}},
			{Name: "about", Shape: binding.Shape{Kind: binding.Object, Fields: []binding.Field{{Name: "size", Shape: str}}}},
		}}},
	}
	var entries []binding.Entry
	for i := range capabilities {
		c := &capabilities[i]
		entries = append(entries, binding.Entry{Name: c.Name, ID: c.ID, Binding: string(c.AppendJSON(nil))})
	}
	entries[0].Was = []string{"records.fetch", "gone.fetch"}
	parsed, err := binding.ParseTable(binding.EncodeTable(entries))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := parsed.Lookup(e.Name); err != nil {
			t.Fatal(err)
		}
	}
	return parsed
}

// host is a fake Caller.
type host struct {
	t       testing.TB
	calls   []string // id and arguments as JSON
	paths   []string
	refused []string

	sequence    uint32
	outstanding []sent
	most        int // calls on their way at once
	reply       func(id string) ([]byte, *fault.Fault)
	refuse      *fault.Fault
}

func (h *host) Call(id string, path []uint32, arguments []byte) (uint32, *fault.Fault) {
	h.calls = append(h.calls, id+" "+toJSON(h.t, arguments))
	h.paths = append(h.paths, fmt.Sprint(path))
	h.sequence++
	wire, f := h.result(id)
	h.outstanding = append(h.outstanding, sent{h.sequence, wire, f})
	h.most = max(h.most, len(h.outstanding))
	return h.sequence, nil
}

// Answer answers the last call first.
func (h *host) Answer() (uint32, []byte, *fault.Fault) {
	last := len(h.outstanding) - 1
	a := h.outstanding[last]
	h.outstanding = h.outstanding[:last]
	return a.sequence, a.wire, a.fault
}

// sent is a call, and its answer.
type sent struct {
	sequence uint32
	wire     []byte
	fault    *fault.Fault
}

func (h *host) result(id string) ([]byte, *fault.Fault) {
	if h.reply != nil {
		return h.reply(id)
	}
	switch id {
	case "r.lookup":
		return recordWire(), nil
	case "pages":
		return wire(func(w *canon.Writer) {
			w.BeginObject(1)
			w.Key("rows")
			w.BeginArray(0, 0, 9)
			w.EndArray()
			w.EndObject()
		}), nil
	case "all.kinds":
		return wire(func(w *canon.Writer) { w.Int(7, 0, 9) }), nil
	}
	return wire(func(w *canon.Writer) { w.String("leaf", 0, 9) }), nil
}

func (h *host) Refused(id string) *fault.Fault {
	h.refused = append(h.refused, id)
	return h.refuse
}

func wire(f func(w *canon.Writer)) []byte {
	w := canon.NewWireWriter(nil)
	f(w)
	return w.Bytes()
}

// recordWire is a record without its optional field, keys sorted as the host
// sends them.
func recordWire() []byte {
	return wire(func(w *canon.Writer) {
		w.BeginObject(4)
		w.Key("count")
		w.Int(3, 0, 9)
		w.Key("items")
		w.BeginArray(2, 0, 9)
		w.Element(0)
		w.String("x", 0, 9)
		w.Element(1)
		w.String("y", 0, 9)
		w.EndArray()
		w.Key("ratio")
		w.Float(2)
		w.Key("zeta")
		w.String("Z", 0, 9)
		w.EndObject()
	})
}

func toJSON(t testing.TB, b []byte) string {
	t.Helper()
	text, _, err := canon.WireToJSON(nil, b, 100)
	if err != nil {
		t.Fatalf("the engine wrote bad wire bytes: %v", err)
	}
	return string(text)
}

// run returns the program's value as JSON, or its fault.
func run(t testing.TB, source string) (string, *fault.Fault) {
	t.Helper()
	return runWith(t, source, limits(), &host{t: t})
}

func runWith(t testing.TB, source string, l program.Limits, h *host) (string, *fault.Fault) {
	t.Helper()
	r, f := program.Run(program.Program{Source: source, Limits: l}, table(t), h)
	if f != nil {
		if r.Value != nil {
			t.Error("a value beside a fault")
		}
		if len(f.Message) > 4096 || len(f.Hint) > 4096 {
			t.Errorf("a message of %d bytes, a hint of %d", len(f.Message), len(f.Hint))
		}
		return "", f
	}
	return toJSON(t, r.Value), nil
}

func TestValues(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"main", "def main():\n  return 1", "1"},
		{"main without return", "def main():\n  pass", "null"},
		{"main with defaults", "def main(x = 2, *args, **kw):\n  return x", "2"},
		{"last call is the run", "n = [0]\ndef main():\n  n.append(1)\n  return len(n)\nmain()", "2"},
		{"guarded call is the run", "n = [0]\ndef main():\n  n.append(1)\n  return len(n)\nif __name__ == \"__main__\":\n  main()", "2"},
		{"printed call is the run", "def main():\n  return 5\nprint(main())", "5"},
		{"guard the other way round", "def main():\n  return 5\nif (\"__main__\" == __name__):\n  print(main())", "5"},
		{"main and a last expression", "def main():\n  return 5\nmain() + 1", "6"},
		{"main and result", "def main():\n  return 5\nresult = main()", "5"},
		{"main called in a loop", "def main():\n  return 5\nout = []\nfor i in range(2):\n  out.append(main())\nout", "[5,5]"},
		{"helper calls main", "def main(n = 3):\n  return n if n == 0 else again(n)\ndef again(n):\n  return main(n - 1)", "0"},
		{"script expression", "x = 2\nx * 3", "6"},
		{"script result", "result = {\"a\": 1}\nfor i in range(2):\n  result[\"a\"] += i", `{"a":2}`},
		{"script result in a branch", "if True:\n  result = 4", "4"},
		{"script without value", "x = 1", "null"},
		{"script return", "x = 1\nreturn x + 1", "2"},
		{"script with functions", "def f(n):\n  return 1 if n < 2 else n * f(n - 1)\nf(5)", "120"},
		{"script docstring", "\"hello\"", `"hello"`},
		{"while", "n = 0\nwhile n < 5:\n  n += 1\nn", "5"},
		{"set", "len(set([1, 1]))", "1"},
		{"reassign", "def main():\n  return x\nx = 1\nx = 2", "2"},
		{"kinds", "[None, True, False, 1, -1, 1.5, \"é\", (1, 2), {\"k\": []}]", `[null,true,false,1,-1,1.5,"é",[1,2],{"k":[]}]`},
		{"dict order", "{\"b\": 1, \"a\": 2}", `{"b":1,"a":2}`},
		{"float stays float", "2.0", "2.0"},
		{"negative zero", "-0.0", "-0.0"},
		{"wide", "1 << 70", `"1180591620717411303424"`},
		{"int64", "-(1 << 63)", `"-9223372036854775808"`},
		{"sum", "[sum([1, 2]), sum([1, 2.5]), sum([]), sum([1], 10), sum([True, True])]", "[3,3.5,0,11,2]"},
		{"json", "json.decode(json.encode({\"a\": [1, 2.5, None]}))", `{"a":[1,2.5,null]}`},
		{"math", "math.floor(2.7)", "2"},
		{"print is discarded", "print(\"x\")\n1", "1"},
		{"same object twice is no cycle", "x = [1]\n[x, x]", "[[1],[1]]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, f := run(t, c.source)
			if f != nil {
				t.Fatalf("%v (hint %q, trace %q)", f, f.Hint, f.Trace)
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestWideIntegersAreReported(t *testing.T) {
	for source, want := range map[string]bool{"1 << 62": false, "1 << 70": true} {
		r, f := program.Run(program.Program{Source: source, Limits: limits()}, table(t), &host{t: t})
		if f != nil || r.WideIntegers != want || r.Steps == 0 {
			t.Errorf("%s: %+v, %v", source, r, f)
		}
	}
}

// failure is what matters of a fault.
type failure struct {
	Class        fault.Class
	Line, Column int
	Path         string
	Message      string
}

func of(f *fault.Fault) failure {
	return failure{f.Class, f.Line, f.Column, f.Path, f.Message}
}

func TestBinding(t *testing.T) {
	for arguments, want := range map[string]string{
		`s = "ab"`:                               `{"s":"ab"}`,
		`s = None, b = True`:                     `{"b":true}`,
		`x = 3`:                                  `{"x":3.0}`,
		`x = 1 << 60`:                            `{"x":1152921504606847000.0}`,
		`x = 1 << 100`:                           `{"x":1.2676506002282294e+30}`,
		`i = 10, n = 0, e = "up", p = "abc"`:     `{"e":"up","i":10,"n":0.0,"p":"abc"}`,
		`tags = ("a", "b")`:                      `{"tags":["a","b"]}`,
		`tags = []`:                              `{"tags":[]}`,
		`filter = {"owner": "o"}`:                `{"filter":{"owner":"o"}}`,
		`filter = {"owner": "o", "ids": (1, 2)}`: `{"filter":{"ids":[1,2],"owner":"o"}}`,
		`filter = dict(owner = "o", ids = None)`: `{"filter":{"owner":"o"}}`,
		`record = records.lookup(key = "k")`:     `{"record":{"count":3,"items":["x","y"],"ratio":2.0,"zeta":"Z"}}`,
		`**{"b": False}`:                         `{"b":false}`,
	} {
		h := &host{t: t}
		_, f := runWith(t, "kinds.all("+arguments+")", limits(), h)
		if f != nil {
			t.Errorf("%s: %v", arguments, f)
			continue
		}
		if got := h.calls[len(h.calls)-1]; got != "all.kinds "+want {
			t.Errorf("%s: got %s, want %s", arguments, got, want)
		}
	}
}

func TestBindingRefusals(t *testing.T) {
	for _, c := range []struct{ call, path, message string }{
		{`records.lookup("a")`, "", "records.lookup takes keyword arguments only, got 1 positional"},
		{`records.lookup()`, "key", "key: required parameter is missing"},
		{`records.lookup(key = None)`, "key", "key: expected str, got None: it is required"},
		{`records.lookup(keey = "a")`, "keey", "keey: unknown parameter (did you mean key?)"},
		{`records.lookup(key = "a", nonsense = 1)`, "nonsense", "nonsense: unknown parameter"},
		{`records.lookup(key = 1)`, "key", "key: expected str, got int"},
		{`records.lookup(key = "a", limit = True)`, "limit", "limit: expected int, got bool"},
		{`records.lookup(key = "a", limit = 1.0)`, "limit", "limit: expected int, got float"},
		{`records.lookup(key = "a", limit = 0)`, "limit", "limit: expected an integer from 1 to 100, got 0"},
		{`records.lookup(key = "a", limit = 1 << 80)`, "limit", "limit: expected an integer from 1 to 100, got one beyond 64 bits"},
		{`kinds.all(x = True)`, "x", "x: expected float, got bool"},
		{`kinds.all(x = (1 << 60) + 1)`, "x", "x: the int cannot be a float without rounding"},
		{`kinds.all(x = (1 << 500) * (1 << 500) * (1 << 500))`, "x", "x: the int cannot be a float without rounding"},
		{`kinds.all(x = float("nan"))`, "x", ""},
		{`kinds.all(n = 1.0)`, "n", ""},
		{`kinds.all(n = -0.5)`, "n", ""},
		{`kinds.all(i = 7)`, "i", ""},
		{`kinds.all(s = "a")`, "s", ""},
		{`kinds.all(s = "abcde")`, "s", ""},
		{`kinds.all(e = "left")`, "e", ""},
		{`kinds.all(p = "ABC")`, "p", ""},
		{`kinds.all(b = 1)`, "b", "b: expected bool, got int"},
		{`kinds.all(set = [1, {"a": 1, "b": [2]}, {"b": (2.0,), "a": 1}])`, "set", "set: expected items that differ, got the same as [1] and [2]"},
		{`kinds.all(set = [1, 1.0])`, "set", "set: expected items that differ, got the same as [0] and [1]"},
		{`kinds.all(tags = "abc")`, "tags", "tags: expected list[str], got str: put brackets around it"},
		{`kinds.all(tags = ["a", 2])`, "tags[1]", "tags[1]: expected str, got int"},
		{`kinds.all(tags = ["a", "b", "c", "d"])`, "tags", ""},
		{`kinds.all(tags = set(["a"]))`, "tags", "tags: expected list[str], got set"},
		{`kinds.all(filter = [])`, "filter", "filter: expected dict, got list: write a dict with owner, ids"},
		{`kinds.all(filter = {})`, "filter.owner", "filter.owner: required field is missing"},
		{`kinds.all(filter = {"owner": 1})`, "filter.owner", "filter.owner: expected str, got int"},
		{`kinds.all(filter = {"owner": "o", "whoever": 1})`, "filter.whoever", "filter.whoever: unknown field; there are owner, ids"},
		{`kinds.all(filter = {"owner": "o", "ownr": 1})`, "filter.ownr", "filter.ownr: unknown field (did you mean owner?)"},
		{`kinds.all(filter = {"owner": "o", "a b": 1})`, "filter['a b']", "filter['a b']: unknown field; there are owner, ids"},
		{`kinds.all(filter = {"owner": "o", "ids": [1, "2"]})`, "filter.ids[1]", "filter.ids[1]: expected int, got str"},
		{`kinds.all(filter = {1: 2})`, "filter", "filter: expected string keys, got a key of type int"},
		{`kinds.all(s = len)`, "s", "s: expected str, got function"},
	} {
		h := &host{t: t}
		_, f := runWith(t, "def main():\n  return "+c.call, limits(), h)
		if f == nil {
			t.Errorf("%s: accepted", c.call)
			continue
		}
		if f.Class != fault.InvalidArguments || f.Path != c.path || f.Line != 2 || f.Column == 0 {
			t.Errorf("%s: %+v", c.call, f)
		}
		text := (&fault.Fault{Path: f.Path, Message: f.Message}).Error()
		if c.message != "" && text != c.message {
			t.Errorf("%s: got message %q, want %q", c.call, text, c.message)
		}
		if f.Message == "" || f.Capability == "" || f.Hint == "" {
			t.Errorf("%s: no message, capability or hint: %+v", c.call, f)
		}
		if len(h.refused) != 1 || len(h.calls) != 0 {
			t.Errorf("%s: reported %v, called %v", c.call, h.refused, h.calls)
		}
	}
}

func TestSignatureIsTheHint(t *testing.T) {
	_, f := run(t, "records.lookup()")
	if want := "records.lookup(*, key: str, limit: int = 20, glob: str = None)"; f == nil || f.Hint != want {
		t.Errorf("got %+v, want hint %s", f, want)
	}
}

func TestNamespaces(t *testing.T) {
	got, f := run(t, "[a.b.c.leaf(), a.b.other(), dir(a.b), dir(a), str(a.b), type(records).__name__]")
	if want := `["leaf","leaf",["c","other"],["b"],"<namespace a.b>","namespace"]`; f != nil || got != want {
		t.Errorf("got %s, %v", got, f)
	}
}

func TestFaults(t *testing.T) {
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, c := range []struct {
		name, source string
		want         failure
		hint         bool
	}{
		{"empty", "", failure{fault.InvalidProgram, 1, 1, "", "the program is empty"}, true},
		{"comment only", "# hi\n", failure{fault.InvalidProgram, 1, 1, "", "the program is empty"}, true},
		{"syntax", "def main():\n  x = 1 2", failure{fault.InvalidProgram, 2, 9, "", "invalid syntax: a number"}, false},
		{"in an f-string", "def main():\n  return f\"a{1 + None}\"", failure{fault.ProgramError, 2, 16, "", "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'"}, false},
		{"import", "import os", failure{fault.InvalidProgram, 1, 8, "", "the module os is not available"}, true},
		{"import of a namespace", "import records", failure{fault.InvalidProgram, 1, 1, "", "records is a namespace of capabilities, not a module"}, true},
		{"nul", "x = 1\n\x00", failure{fault.InvalidProgram, 2, 1, "", "the source holds a NUL character"}, false},
		{"bad utf-8", "x = \"é\xff\"", failure{fault.InvalidProgram, 1, 7, "", "the source is not valid UTF-8"}, false},
		{"required parameter", "def main(x):\n  return x", failure{fault.InvalidProgram, 1, 10, "", "main takes no parameters, but x is required"}, true},
		{"keyword-only parameter", "def main(*, x):\n  return x", failure{fault.InvalidProgram, 1, 13, "", "main takes no parameters, but x is required"}, true},
		{"undefined", "def main():\n  total = 1\n  return totl", failure{fault.InvalidProgram, 3, 10, "", "NameError: name 'totl' is not defined (did you mean total?)"}, false},
		{"undefined builtin", "enumerat([1])", failure{fault.InvalidProgram, 1, 1, "", "NameError: name 'enumerat' is not defined (did you mean enumerate?)"}, false},
		{"undefined capability", "def main():\n  return recrods.lookup(key = 1)", failure{fault.NotFound, 2, 10, "", "no capability recrods.lookup (did you mean records.lookup?)"}, true},
		{"undefined nested", "x.y.z.nothing()", failure{fault.NotFound, 1, 1, "", "no capability x.y.z.nothing"}, true},
		{"unknown member", "records.lokup(key = \"a\")", failure{fault.NotFound, 1, 9, "", "no capability records.lokup (did you mean records.lookup?)"}, true},
		{"old member", "records.fetch(key = \"a\")", failure{fault.NotFound, 1, 9, "", "no capability records.fetch: it was renamed to records.lookup"}, true},
		{"old namespace", "gone.fetch(key = \"a\")", failure{fault.NotFound, 1, 1, "", "no capability gone.fetch: it was renamed to records.lookup"}, true},
		{"python name", "eval(\"1\")", failure{fault.InvalidProgram, 1, 1, "", "NameError: name 'eval' is not defined"}, true},
		{"break outside", "def main():\n  break", failure{fault.InvalidProgram, 2, 3, "", "'break' outside loop"}, true},
		{"runtime", "def main():\n  return f()\ndef f():\n  return 1 + \"a\"", failure{fault.ProgramError, 4, 12, "", "TypeError: unsupported operand type(s) for +: 'int' and 'str'"}, true},
		{"fail", "def main():\n  fail(\"no\", 1)", failure{fault.ProgramError, 2, 7, "", "RuntimeError: no 1"}, false},
		{"key", "{}[\"a\"]", failure{fault.ProgramError, 1, 3, "", "KeyError: 'a'"}, true},
		{"record attribute", "records.lookup(key = \"a\").zta", failure{fault.ProgramError, 1, 27, "", "AttributeError: the record has no field zta (did you mean zeta?)"}, false},
		{"record key", "records.lookup(key = \"a\")[\"cuont\"]", failure{fault.ProgramError, 1, 26, "", "KeyError: 'cuont'"}, true},
		{"field of an item", "sites.get().word", failure{fault.ProgramError, 1, 13, "", "AttributeError: the record has no field word; each item of the list rows has one"}, false},
		{"field of a field", "sites.get()[\"size\"]", failure{fault.ProgramError, 1, 12, "", "KeyError: 'size'"}, true},
		{"no such field", "sites.get().nonsense", failure{fault.ProgramError, 1, 13, "", "AttributeError: the record has no field nonsense; its fields are rows, about"}, false},
		{"record index", "sites.get()[0]", failure{fault.ProgramError, 1, 12, "", "KeyError: 0"}, true},
		{"loop over a record", "[r.word for r in sites.get()]", failure{fault.ProgramError, 1, 4, "", "AttributeError: 'str' object has no attribute 'word'"}, true},
		{"module", "def main():\n  return re.findall(\"a\", \"b\")", failure{fault.InvalidProgram, 2, 10, "", "NameError: name 're' is not defined"}, true},
		{"module of modules", "os.path.join(\"a\")", failure{fault.InvalidProgram, 1, 1, "", "NameError: name 'os' is not defined"}, true},
		{"assert", "def main():\n  assert False, \"no\"", failure{fault.ProgramError, 2, 3, "", "AssertionError: no"}, false},
		{"fence", "```python\n1\n```", failure{fault.InvalidProgram, 1, 1, "", "invalid syntax: '`'"}, true},
		{"list and string", "[1] + \"a\"", failure{fault.ProgramError, 1, 5, "", "TypeError: can only concatenate list (not \"str\") to list"}, true},
		{"sorted records", "sorted([sites.get(), sites.get()])", failure{fault.ProgramError, 1, 7, "", "TypeError: '<' not supported between instances of 'record' and 'record'"}, true},
		{"absent field", "records.lookup(key = \"a\")[\"note\"]", failure{fault.ProgramError, 1, 26, "", "KeyError: 'note'"}, true},
		{"main replaced", "def main():\n  return 1\ndef other():\n  pass\n[main for main in [1]]", failure{}, false},
		{"sum of strings", "sum([1, \"a\"])", failure{fault.ProgramError, 1, 4, "", "TypeError: unsupported operand type(s) for +: 'int' and 'str'"}, true},
		{"returned function", "{\"items\": [1, 2, len]}", failure{fault.InvalidProgram, 0, 0, "result.items[2]", "main returned a function at result.items[2]"}, true},
		{"returned lambda", "lambda: 1", failure{fault.InvalidProgram, 0, 0, "result", "main returned a function at result"}, true},
		{"returned set", "[set([1])]", failure{fault.InvalidProgram, 0, 0, "result[0]", "main returned a set at result[0]"}, true},
		{"returned module", "math", failure{fault.InvalidProgram, 0, 0, "result", "main returned a module at result"}, true},
		{"returned namespace", "a.b", failure{fault.InvalidProgram, 0, 0, "result", "main returned the namespace a.b at result"}, true},
		{"returned capability", "records.lookup", failure{fault.InvalidProgram, 0, 0, "result", "main returned a function at result"}, true},
		{"returned range", "range(3)", failure{fault.InvalidProgram, 0, 0, "result", "main returned a range at result"}, true},
		{"returned nan", "{\"a b\": float(\"nan\")}", failure{fault.InvalidProgram, 0, 0, "result['a b']", "main returned the float nan at result['a b']"}, true},
		{"returned tuple keys", "{(1, 2): 3}", failure{fault.InvalidProgram, 0, 0, "result", "main returned a dict with a key of type tuple at result"}, true},
		{"returned like keys", "{1: 2, \"1\": 3}", failure{fault.InvalidProgram, 0, 0, "result", "main returned a dict with two keys that JSON writes as \"1\" at result"}, true},
		{"returned like keys turned round", "{\"None\": 1, \"null\": 3, None: 2}", failure{fault.InvalidProgram, 0, 0, "result", "main returned a dict with two keys that JSON writes as \"null\" at result"}, true},
		{"returned huge int", "n = 1 << 500\nfor i in range(40):\n  n *= 1 << 500\nn", failure{fault.InvalidProgram, 0, 0, "result", "main returned an integer of more than 4300 digits at result"}, true},
		{"too deep", deep, failure{fault.Limit, 0, 0, "result" + strings.Repeat("[0]", 32), "main returned a value nested too deeply at result" + strings.Repeat("[0]", 32) + " (MaxValueDepth is 32)"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := run(t, c.source)
			if c.want.Class == "" {
				if f == nil {
					return
				}
				t.Fatalf("unexpected %+v", f)
			}
			if f == nil {
				t.Fatal("no fault")
			}
			if d := cmp.Diff(c.want, of(f)); d != "" {
				t.Error(d)
			}
			if c.hint && f.Hint == "" {
				t.Error("no hint")
			}
			if strings.Contains(f.Error(), "program:") {
				t.Errorf("a file name in %q", f.Error())
			}
		})
	}
}

func TestTrace(t *testing.T) {
	_, f := run(t, "def main():\n  return f(3)\ndef f(n):\n  if n == 0:\n    return [].x\n  return f(n - 1)")
	want := []string{"line 2, in main", "line 6, in f", "line 6, in f", "line 6, in f", "line 5, in f"}
	if d := cmp.Diff(want, f.Trace); d != "" {
		t.Error(d)
	}
	if _, f = run(t, "x = 1\n[].y"); len(f.Trace) != 1 || f.Trace[0] != "line 2" {
		t.Errorf("script trace %q", f.Trace)
	}
	_, f = run(t, "def f(n):\n  return f(n + 1)\nf(0)")
	if f == nil || len(f.Trace) > 20 || f.Class != fault.ProgramError || !strings.Contains(f.Message, "deep") {
		t.Errorf("endless recursion: %+v", f)
	}
	// What the trace leaves out tells how deep it got.
	var more int
	for _, line := range f.Trace {
		fmt.Sscanf(line, "… %d more", &more)
	}
	if more < 4_900 || more > 5_100 {
		t.Errorf("%d more frames of a recursion that ends at 5,000", more)
	}
}

func TestCallFaultKeepsWhatTheHostSays(t *testing.T) {
	h := &host{t: t, reply: func(string) ([]byte, *fault.Fault) {
		return nil, &fault.Fault{Class: fault.CapabilityFailed, Message: "no such record", Code: "not_found", Path: "key"}
	}}
	_, f := runWith(t, "def main():\n  return records.lookup(key = \"a\")", limits(), h)
	want := &fault.Fault{
		Class: fault.CapabilityFailed, Message: "no such record", Code: "not_found", Path: "key",
		Capability: "records.lookup", Line: 2, Column: 24, Trace: []string{"line 2, in main"},
	}
	if d := cmp.Diff(want, f); d != "" {
		t.Error(d)
	}
	h.reply = func(string) ([]byte, *fault.Fault) {
		return nil, &fault.Fault{Class: fault.InvalidArguments, Message: "key: bad", Path: "key"}
	}
	if _, f = runWith(t, "records.lookup(key = \"a\")", limits(), h); f.Hint == "" {
		t.Error("invalid arguments without the signature")
	}
}

func TestBadReplies(t *testing.T) {
	for name, reply := range map[string][]byte{
		"empty":         {},
		"other kind":    wire(func(w *canon.Writer) { w.Int(1, 0, 1) }),
		"unknown field": wire(func(w *canon.Writer) { w.BeginObject(1); w.Key("what"); w.Int(1, 0, 1); w.EndObject() }),
		"trailing":      append(recordWire(), 0xC0),
		"duplicate":     {0x82, 0xA4, 'z', 'e', 't', 'a', 0xA1, 'a', 0xA4, 'z', 'e', 't', 'a', 0xA1, 'a'},
	} {
		h := &host{t: t, reply: func(string) ([]byte, *fault.Fault) { return reply, nil }}
		if _, f := runWith(t, "records.lookup(key = \"a\")", limits(), h); f == nil || f.Class != fault.Internal {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestInvalidLimits(t *testing.T) {
	l := limits()
	l.Depth = 0
	if _, f := runWith(t, "1", l, &host{t: t}); f == nil || f.Class != fault.Internal {
		t.Errorf("%+v", f)
	}
}

func TestNegativeZeroReachesAProgram(t *testing.T) {
	h := &host{t: t, reply: func(string) ([]byte, *fault.Fault) {
		return wire(func(w *canon.Writer) {
			w.BeginObject(1)
			w.Key("ratio")
			w.Float(negativeZero())
			w.EndObject()
		}), nil
	}}
	got, f := runWith(t, "records.lookup(key = \"a\").ratio", limits(), h)
	if f != nil || got != "-0.0" {
		t.Errorf("got %s, %v", got, f)
	}
}

func negativeZero() float64 {
	return math.Copysign(0, -1)
}

// The error of a hostile message is short however long the value it quotes.
func TestLongMessages(t *testing.T) {
	for _, source := range []string{"fail(\"x\" * 1000000)", "{}[\"x\" * 1000000]", "fail(\"é\" * 5000)", "kinds.all(**{\"x\" * 100000: 1})"} {
		_, f := run(t, source)
		if f == nil || len(f.Message) > 4096 {
			t.Errorf("%.20s: a message of more than 4 KiB, or none", source)
		}
	}
}
