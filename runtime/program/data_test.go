package program_test

import (
	"testing"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

func TestData(t *testing.T) {
	const text = `{"n": 1.0, "rows": [1, 2], "items": {"a": null}, "big": 123456789012345678901234567890, "text": "é"}`
	for _, c := range []struct{ source, want, failure string }{
		{`[k for k in data]`, `["n","rows","items","big","text"]`, ""},
		{`[f"{data['n']}", data["big"] % 1000, len(data), data.get("none", 5), "n" in data]`, `["1.0",890,5,5,true]`, ""},
		{`[isinstance(data, dict), data["items"]["a"] is None, [v for k, v in data.items()][1]]`, `[true,true,[1,2]]`, ""},
		{`d = dict(data); d["n"] = 2; [d["n"], data["n"]]`, `[2,1.0]`, ""},
		{`rows = list(data["rows"]); rows.append(3); [rows, data["rows"]]`, `[[1,2,3],[1,2]]`, ""},
		{`data = data["rows"]; data`, `[1,2]`, ""},
		{"def main():\n  data = 3\n  return data", `3`, ""},
		{`data["n"] = 1`, "", "TypeError: data is read-only"},
		{`data["items"]["a"] = 1`, "", "TypeError: data is read-only"},
		{`data["rows"].append(1)`, "", "TypeError: data is read-only"},
		{`data["rows"].pop()`, "", "TypeError: data is read-only"},
		{`data["rows"].sort()`, "", "TypeError: data is read-only"},
		{`del data["n"]`, "", "TypeError: data is read-only"},
		{`data |= {"x": 1}`, "", "TypeError: data is read-only"},
		{`data.update(x=1)`, "", "TypeError: data is read-only"},
		{"def main():\n  data = data['n']", "", "UnboundLocalError: cannot access local variable 'data' where it is not associated with a value"},
	} {
		result, f := program.Run(program.Program{Source: c.source, Data: text, Limits: limits()}, table(t), &host{t: t})
		if c.failure != "" {
			if f == nil || f.Message != c.failure || f.Hint == "" || f.Line == 0 {
				t.Errorf("%s: got %+v, want %s with a hint and a place", c.source, f, c.failure)
			}
			continue
		}
		if f != nil {
			t.Errorf("%s: %+v", c.source, f)
			continue
		}
		got, _, err := canon.WireToJSON(nil, result.Value, 32)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.source, got, err, c.want)
		}
	}
}

// Where main is required, calls are made only while it runs.
func TestCallsOutsideOfMain(t *testing.T) {
	for _, c := range []struct {
		source, message string
		line, column    int
	}{
		{"x = records.lookup(key = \"a\")\ndef main():\n  return x", "records.lookup was called outside main: native calls are made only while main() runs", 1, 19},
		{"def main():\n  return 1\nx = parallel([a.b.other])", "callable 0 of parallel: a.b.other was called outside main: native calls are made only while main() runs", 3, 1},
		{"1 + 1", "the program defines no main()", 1, 1},
	} {
		p := program.Program{Source: c.source, Limits: limits()}
		p.RequireMain = true
		if _, f := program.Run(p, table(t), &host{t: t}); f == nil || f.Class != fault.InvalidProgram || f.Message != c.message || f.Line != c.line || f.Hint == "" {
			t.Errorf("%s: %+v", c.source, f)
		} else if c.column != 1 && f.Column != c.column {
			t.Errorf("%s: column %d", c.source, f.Column)
		}
		p.RequireMain = false
		h := &host{t: t, reply: func(string) ([]byte, *fault.Fault) { return nil, &fault.Fault{Class: fault.Denied, Message: "asked"} }}
		if _, f := program.Run(p, table(t), h); f != nil && f.Class != fault.Denied {
			t.Errorf("%s: not required: %+v", c.source, f)
		}
	}
}
