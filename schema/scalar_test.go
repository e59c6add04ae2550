package schema

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/binding"
	"go.starlark.net/starlark"
)

func TestClassify(t *testing.T) {
	f := newScalarForms()
	for kind, texts := range map[nodeKind][]string{
		nullNode:   {"null"},
		boolNode:   {"true", "false"},
		numberNode: {"0", "-0", "1", "-1", "10", "1.5", "-0.5", "1e3", "1E+3", "1.5e-3", "123456789012345678901234567890"},
		stringNode: {"a", "records.lookup", "1.2.0", "v1", "a b", "2 apples", "1-2", "8080:80", "none", "nullable", "yesterday",
			"#/types/X", "https://example.com", "é", "-", "_", "__1", "0.0.0.0", "1,000", "1/2", "20260131", "12:61", "e3", "x0", "0x"},
		invalidNode: {"", "~", "Null", "NULL", "True", "FALSE", "yes", "Yes", "NO", "on", "Off", "y", "N",
			"017", "08", "00", "-017", "1_000", "0x1F", "-0xff", "0o17", "0b101", "+1", "+1.5", ".5", "-.5", "1.", "1.e3", "1_0.5",
			"12:30", "12:30:45", "12:30:45.5", "-1:30", ".inf", "-.INF", "+.Inf", ".nan", ".NaN",
			"2026-01-31", "2026-1-3", "2026-01-31T10:00:00Z", "2026-01-31 10:00:00", "2026-01-31t10:00:00.5+01:00", "=", "<<", "."},
	} {
		for _, s := range texts {
			want := kind
			if s == "20260131" {
				want = numberNode
			}
			got, ok := f.classify(s)
			if got != want || ok != (want != invalidNode) {
				t.Errorf("%q is %v (%v), want %v", s, got, ok, want)
			}
		}
	}
}

func TestIsNumberIsJSONs(t *testing.T) {
	for _, s := range []string{
		"0", "-0", "00", "01", "1", "-", "", "+1", "1.", ".1", "1.0", "1.e1", "1e", "1e+", "1e1", "1E-01", "-1.5e+10",
		"0x1", "1 ", " 1", "1a", "--1", "1e1.5", "0e0", "1_0", "Infinity", "NaN", "-a",
	} {
		var v any
		want := json.Unmarshal([]byte(s), &v) == nil && strings.TrimSpace(s) == s
		if got := isNumber(s); got != want {
			t.Errorf("isNumber(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestParseInteger(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "-0": 0, "0.000": 0, "0e5": 0, "1": 1, "-1": -1, "1.0": 1, "1e2": 100, "1.5e1": 15, "100e-2": 1, "0.5e1": 5,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "9.007199254740991e15": MaxInteger,
	} {
		if got, ok := parseInteger(s); !ok || got != want {
			t.Errorf("parseInteger(%s) = %d, %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"1.5", "1e-1", "9223372036854775808", "1e19", "1e999999999999", "-1e400", "1e1600", strings.Repeat("1", 1000), "0.1e0"} {
		if got, ok := parseInteger(s); ok {
			t.Errorf("parseInteger(%.30s) = %d", s, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for s, want := range map[string]string{
		"0": "0", "-0": "0", "-0.0": "0", "1": "1", "1.50": "1.5", "1e21": "1e+21", "1e20": "100000000000000000000",
		"0.000001": "0.000001", "1e-7": "1e-7", "-2.5e-10": "-2.5e-10", "5e-324": "5e-324", "1.7976931348623157e308": "1.7976931348623157e+308",
		"0.1": "0.1", "100.00": "100",
	} {
		f, ok, exact := parseNumber(s)
		if !ok || !exact || formatNumber(f) != want {
			t.Errorf("%s: %s (%v, %v), want %s", s, formatNumber(f), ok, exact, want)
		}
	}
	for _, s := range []string{"0.10000000000000000555", "9007199254740993", "1e-400", "4e-324"} {
		if _, ok, exact := parseNumber(s); !ok || exact {
			t.Errorf("%s: ok %v, exact %v", s, ok, exact)
		}
	}
	for _, s := range []string{"1e309", "-1e400", "1e99999999999"} {
		if _, ok, _ := parseNumber(s); ok {
			t.Errorf("%s is a float", s)
		}
	}
	for _, c := range []struct {
		v    float64
		n    string
		want bool
	}{{0.3, "0.1", true}, {0.25, "0.1", false}, {0, "0.1", true}, {-1.5, "0.5", true}, {1e308, "1e-300", true}, {1, "3", false}} {
		if got := isMultiple(c.v, c.n); got != c.want {
			t.Errorf("isMultiple(%v, %s) = %v", c.v, c.n, got)
		}
	}
	for _, c := range []struct {
		low, high, n int64
		want         bool
	}{{1, 9, 10, false}, {1, 10, 10, true}, {-9, -1, 10, false}, {-10, -1, 10, true}, {0, 0, 7, true}, {-5, 5, 7, true}, {8, 13, 7, false}, {-13, -8, 7, false}} {
		if got := holdsMultiple(c.low, c.high, c.n); got != c.want {
			t.Errorf("holdsMultiple(%d, %d, %d) = %v", c.low, c.high, c.n, got)
		}
	}
}

func TestReservedRootsHoldTheUniverse(t *testing.T) {
	universe := starlark.Universe.Keys()
	slices.Sort(universe)
	roots := binding.ReservedRoots()
	for _, name := range append(universe, "sum", "json", "math", "data", "parallel", "attempt", "pages", "change", "run", "result",
		"re", "datetime", "collections", "itertools", "functools", "statistics", "typing", "asyncio", "round", "map", "filter",
		"isinstance", "pow", "divmod", "next") {
		if !slices.Contains(roots, name) {
			t.Errorf("%s is not reserved", name)
		}
	}
	for _, list := range [][]string{roots, languageKeywords(), reservedNamespaces(), reservedDirectories()} {
		if len(slices.Compact(sorted(list))) != len(list) {
			t.Errorf("a name twice in %q", list)
		}
	}
}
