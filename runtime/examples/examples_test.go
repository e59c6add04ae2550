package examples

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	os.Exit(m.Run())
}

// text stands for a generated type.
type text string

func (v *text) Decode(r *canon.Reader) error {
	*v = text(r.String(0, 5))
	return r.Err()
}

func (v *text) Encode(w *canon.Writer) { w.String(string(*v), 0, 100) }

func TestAnswer(t *testing.T) {
	all := []Capability{
		{Name: "a.other", Examples: []Example{{Title: "1", Arguments: `"x"`, Output: `"other"`}}},
		{Name: "a.b", Examples: []Example{
			{Title: "1", Arguments: `"x"`, Output: `"first"`},
			{Title: "2", Arguments: `"y"`, Error: "gone"},
			{Title: "3", Arguments: `"long"`, Output: `"beyond its bound"`},
			{Title: "4", Arguments: `"two"`, Output: `"a" "b"`},
		}},
	}
	ask := func(in text) (text, error) { return Answer[text](all, "a.b", &in) }
	if got, err := ask("x"); got != "first" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := ask("y"); err != runtime.ErrorCode("gone") {
		t.Errorf("got %v", err)
	}
	for _, in := range []text{"long", "two"} {
		var code runtime.ErrorCode
		if _, err := ask(in); err == nil || errors.As(err, &code) {
			t.Errorf("%s: got %v", in, err)
		}
	}
	_, err := ask("secret")
	if !errors.Is(err, runtime.CodeNoExample) || err.Error() != `no_example: a.b has no example for "secret"` {
		t.Errorf("got %v", err)
	}
	if _, err := ask(text(strings.Repeat("z", 100))); strings.Contains(err.Error(), "first") || len(err.Error()) > runtime.MaxDisclosedBytes+20 {
		t.Errorf("got %v", err)
	}
	if _, err := Answer[text](nil, "a.b", new(text)); !errors.Is(err, runtime.CodeNoExample) {
		t.Errorf("got %v", err)
	}
}

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[true,null]}`, ` {"b" : [true,null], "a":1.0}`, true},
		{`1e2`, `100`, true},
		{`100000000000000000000.0`, `1e+20`, true},
		{`-0.0`, `0`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`0.1`, `0.10000000000000001`, false},
		{`"1"`, `1`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":null}`, `{}`, false},
		{`{}`, `[]`, false},
		{`null`, `{}`, false},
		{`null`, `[]`, false},
		{`null`, `false`, false},
		{`1`, `[1]`, false},
		{`"é"`, `"\u00e9"`, true},
	} {
		if got, err := equal(test.a, test.b); got != test.want || err != nil {
			t.Errorf("%s and %s: got %t, %v", test.a, test.b, got, err)
		}
		if got, err := equal(test.b, test.a); got != test.want || err != nil {
			t.Errorf("%s and %s: got %t, %v", test.b, test.a, got, err)
		}
	}
	for _, bad := range []string{``, `{`, `1 2`, `nil`} {
		if _, err := equal(bad, `1`); err == nil {
			t.Errorf("%q is taken", bad)
		}
		if _, err := equal(`1`, bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// A server that cannot be built is the only thing that Run tells of.
func TestRunBuilds(t *testing.T) {
	var got []string
	for name, err := range Run(t.Context(), func(b *runtime.Builder) { b.Fail("a", "no handlers given") }, nil, []Program{{Title: "never run"}}) {
		got = append(got, name)
		if err == nil || !strings.Contains(err.Error(), "no handlers given") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if strings.Join(got, " ") != "build" {
		t.Errorf("got %q", got)
	}
}

// A caller that has seen enough is not called again.
func TestRunStops(t *testing.T) {
	programs := []Program{{Title: "a", Source: "def main():\n    return 1\n", Result: "1"}, {Title: "b", Source: "def main():\n    return 2\n", Result: "1"}}
	n := 0
	for _, err := range Run(t.Context(), func(*runtime.Builder) {}, nil, programs) {
		n++
		if err != nil {
			t.Error(err)
		}
		break
	}
	if n != 1 {
		t.Errorf("%d", n)
	}
}
