package program_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

func check(t *testing.T, p program.Program) *program.Report {
	t.Helper()
	p.Limits = limits()
	report, f := program.Check(p, table(t))
	if f != nil {
		t.Fatalf("check: %+v", f)
	}
	// What crosses to the host is all of it.
	read, err := program.ReadReport(report.Wire())
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func found(r *program.Report) (out []string) {
	for _, f := range r.Problems {
		where := fmt.Sprintf("%d:%d", f.Line, f.Column)
		if f.Path != "" {
			where += " " + f.Path
		}
		out = append(out, where+": "+f.Message)
	}
	return out
}

func TestCheckFinds(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"nothing", "def main():\n  return records.lookup(key='a', limit=3)", nil},
		{"syntax", "def main(:\n  pass", []string{"1:9: '(' was never closed"}},
		{"every unknown name", "x = first_row\ny = lenn([2])\nx", []string{
			"1:5: NameError: name 'first_row' is not defined", "2:5: NameError: name 'lenn' is not defined (did you mean len?)"}},
		{"unknown capability", "records.lokup(key='a')", []string{"1:1: no capability records.lokup (did you mean records.lookup?)"}},
		{"renamed capability", "f = records.fetch\nf(key='a')", []string{"1:5: no capability records.fetch: it was renamed to records.lookup"}},
		{"a namespace called", "a.b(1)", []string{"1:4: a.b is a namespace, which cannot be called"}},
		{"a root called", "records(key='a')", []string{"1:8: records is a namespace, which cannot be called"}},
		{"positional", "records.lookup('a', limit=1)", []string{"1:15: records.lookup takes keyword arguments only, got 1 positional"}},
		{"missing", "records.lookup(limit=1)", []string{"1:15 key: required parameter is missing"}},
		{"unknown argument", "records.lookup(key='a', limt=1)", []string{"1:25 limt: unknown parameter (did you mean limit?)"}},
		{"type", "records.lookup(key=1)", []string{"1:20 key: expected str, got int"}},
		{"type of an f-string", "records.lookup(key='a', limit=f'{1}')", []string{"1:31 limit: expected int, got str"}},
		{"type of a display", "x = 1\nrecords.lookup(key=[x])", []string{"2:20 key: expected str, got list"}},
		{"type of a comprehension", "records.lookup(key={k: 1 for k in 'ab'})", []string{"1:20 key: expected str, got dict"}},
		{"bound", "records.lookup(key='a', limit=-1)", []string{"1:31 limit: expected an integer from 1 to 100, got -1"}},
		{"inside of a list", "x = 'y'\nkinds.all(tags=['a', x, 3])", []string{"2:16 tags[2]: expected str, got int"}},
		{"inside of a dict", "x = 'y'\nkinds.all(filter={'owner': x, 'ids': [99]})", []string{"2:18 filter.ids[0]: expected an integer from 0 to 9, got 99"}},
		{"a field that is missing", "x = [1]\nkinds.all(filter={'ids': x})", []string{"2:18 filter.owner: required field is missing"}},
		{"a field that is not there", "x = 'y'\nkinds.all(filter={'ownr': x})", []string{"2:18 filter.ownr: unknown field (did you mean owner?)"}},
		{"in an attempt", "attempt(records.lookup, key=1)", []string{"1:29 key: expected str, got int"}},
		{"in a lambda and in a finally, once", "try:\n  pass\nfinally:\n  f = lambda: records.lookup(key=1)", []string{"4:34 key: expected str, got int"}},
		{"in a gathered call", "import asyncio\nasync def main():\n  await asyncio.gather(records.lookup(key=1))", []string{"3:43 key: expected str, got int"}},
		{"several", "records.lookup(key=1)\nlast_row\nrecords.lookup()", []string{
			"1:20 key: expected str, got int", "2:1: NameError: name 'last_row' is not defined", "3:15 key: required parameter is missing"}},
		// What only a run knows.
		{"spread", "d = {}\nrecords.lookup(**d)", nil},
		{"a variable", "x = 1\nrecords.lookup(key=x)", nil},
		{"None for what may be left out", "records.lookup(key='a', limit=None)", nil},
		{"hidden by a variable", "def f(records):\n  return records.lookup(1)\nf", nil},
		{"data that is not there", "data['x']", []string{"1:1: NameError: name 'data' is not defined"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, found(check(t, program.Program{Source: c.source}))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckKnowsData(t *testing.T) {
	if got := found(check(t, program.Program{Source: "data['x']", Data: "{}"})); got != nil {
		t.Error(got)
	}
}

func TestCheckRequiresMain(t *testing.T) {
	for source, want := range map[string][]string{
		"records.lookup(key='a')":                               {"1:1: the program defines no main()"},
		"x = records.lookup(key='a')\ndef main():\n  return x":  {"1:19: records.lookup was called outside main: native calls are made only while main() runs"},
		"def main():\n  return records.lookup(key='a')\nmain()": nil,
	} {
		if diff := cmp.Diff(want, found(check(t, program.Program{Source: source, RequireMain: true}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

func TestCheckReaches(t *testing.T) {
	r := check(t, program.Program{Source: "f = a.b.other\ndef main():\n  records.lookup(key='b')\n  records.lookup(key='a')\n  parallel([sites.get])\n  pages(records.lookup)\n  return a.b\n"})
	want := []program.Reached{
		{ID: "a.b.other", Line: 1, Column: 5}, {ID: "r.lookup", Line: 3, Column: 3}, {ID: "pages", Line: 5, Column: 13},
	}
	if diff := cmp.Diff(want, r.Reached); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a check says of a literal argument, the call says too.
func TestCheckAgreesWithCalls(t *testing.T) {
	literals := []string{
		"None", "True", "0", "-5", "7", "1 << 70", "0.5", "1.5", "-0.5", "''", "'up'", "'ab'", "'a b'", "'abcde'", "[]", "['a']", "[1]", "['a','b','c','d']", "('a',)",
		"{}", "{'owner': 'o'}", "{'owner': 'o', 'ids': [1, 10]}", "{'owner': None}", "{'owner': 'o', 'x': 1}", "[1, 1.0]", "12345678901234567890123",
	}
	agreed := 0
	for _, parameter := range []string{"s", "e", "p", "i", "n", "x", "b", "tags", "filter", "record", "set", "nope"} {
		for _, v := range literals {
			source := fmt.Sprintf("kinds.all(%s=%s)", parameter, v)
			report := check(t, program.Program{Source: source})
			_, f := runWith(t, source, limits(), &host{t: t})
			refused := f != nil && f.Class == fault.InvalidArguments
			switch {
			case len(report.Problems) > 1:
				t.Errorf("%s: %v", source, found(report))
			case refused != (len(report.Problems) == 1):
				if v != "1 << 70" { // no literal
					t.Errorf("%s: the check says %v, the call %+v", source, found(report), f)
				}
			case refused:
				p := report.Problems[0]
				if p.Message != f.Message || p.Path != f.Path || p.Hint != f.Hint || p.Capability != f.Capability {
					t.Errorf("%s: the check says %+v, the call %+v", source, p, f)
				}
				agreed++
			}
		}
	}
	if agreed < 150 {
		t.Errorf("only %d refusals were compared", agreed)
	}
}

// A script's variable may take a namespace's name: what it is made of is a call
// all the same.
func TestCheckReachesWhatIsHidden(t *testing.T) {
	r := check(t, program.Program{Source: "records = records.lookup(key='a')\nrecords.items.count('x')\nrecords.zeta.upper()"})
	if diff := cmp.Diff([]program.Reached{{ID: "r.lookup", Line: 1, Column: 11}}, r.Reached); diff != "" || len(r.Problems) > 0 {
		t.Errorf("(-want +got):\n%s%v", diff, found(r))
	}
}

func TestReportsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "records.lookup(key=%d)\nx%d_%s\n", i, i, strings.Repeat("y", 60))
	}
	r := check(t, program.Program{Source: b.String()})
	if n := len(r.Problems); n != program.MaxProblems {
		t.Errorf("%d problems", n)
	}
	for _, wire := range [][]byte{nil, {0xc0}, {0x92, 0x90}, {0x92, 0x90, 0x90, 0x90}, {0x92, 0x90, 0x91, 0x93, 0x01, 0x01, 0x01}, {0x91, 0x90}} {
		if _, err := program.ReadReport(wire); err == nil {
			t.Errorf("% x is a report", wire)
		}
	}
}

func TestCheckSaysLimits(t *testing.T) {
	l := limits()
	l.SourceBytes = 3
	if _, f := program.Check(program.Program{Source: "1 + 1", Limits: l}, table(t)); f == nil || f.Limit != fault.MaxSourceBytes {
		t.Errorf("%+v", f)
	}
}

// Whatever a worker sends is a report that reads, or an error; what reads is
// written back as it was.
func FuzzReadReport(f *testing.F) {
	r := program.Report{
		Problems: []*fault.Fault{{Class: fault.InvalidProgram, Message: "m", Line: 1, Column: 2}},
		Reached:  []program.Reached{{ID: "a.b", Line: 3, Column: 4}},
	}
	f.Add(r.Wire())
	f.Add([]byte{0x92, 0x90, 0x90})
	f.Fuzz(func(t *testing.T, wire []byte) {
		r, err := program.ReadReport(wire)
		if err != nil {
			return
		}
		again, err := program.ReadReport(r.Wire())
		if err != nil {
			t.Fatalf("% x reads, but not what it is written as: %v", wire, err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Error(diff)
		}
	})
}

// A check of any source ends without an internal failure, and finds nothing in
// a program that the run does not refuse before it begins.
func FuzzCheck(f *testing.F) {
	for _, source := range []string{
		"records.lookup(key='a', limit=-1)", "kinds.all(filter={'owner': x, **y}, tags=[*z, 1])", "attempt(a.b.other)", "pages(records, max=1)", "data['x']",
		"try:\n  pass\nfinally:\n  records()", "async def f(): await records.lookup(key=f'{1}')", "x = lambda: [records.lookup for _ in ()]", "records.lookup = 1",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		l := limits()
		l.Steps = 1000
		report, failure := program.Check(program.Program{Source: source, Data: "{}", Limits: l}, table(t))
		if failure != nil {
			if failure.Class != fault.Limit {
				t.Fatalf("%q: %+v", source, failure)
			}
			return
		}
		for _, p := range report.Problems {
			if p.Message == "" || p.Class == fault.Internal || p.Line < 1 || p.Column < 1 {
				t.Errorf("%q: %+v", source, p)
			}
		}
	})
}
