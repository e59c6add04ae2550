package program_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

// soak makes the tests compare all that they can. `make soak` sets it.
var soak = flag.Bool("soak", false, "compare every expression with the interpreter, not only each fifth")

// What is within bounds is what the interpreter itself makes of it: every
// expression has the interpreter's own value, or fails where it fails.
func TestBoundedIsTheSame(t *testing.T) {
	values := []string{
		"0", "1", "-7", "1 << 70", "2.5", "-0.0", "True", "None", "''", "'abc'", "'a b,c é'", "b'xy'", "[]", "[1, 'a', None]", "[[1], [2]]",
		"()", "(1,)", "(1, 'a')", "{}", "{'a': 1, 2: [3]}", "set([])", "set([1, 'a'])", "range(4)", "range(9, 0, -2)", "len", "(1, (2, 3))",
	}
	var expressions []string
	for _, x := range values {
		for _, y := range values {
			for _, op := range []string{"+", "-", "*", "%", "//", "/", "|", "&", "^", "<<", ">>", "in", "not in", "==", "!=", "<", "<=", ">", ">="} {
				// As variables, for literals are lowered in other ways.
				expressions = append(expressions, fmt.Sprintf("[x %s y for x in [%s] for y in [%s]][0]", op, x, y), fmt.Sprintf("(%s) %s (%s)", x, op, y))
			}
			expressions = append(expressions, fmt.Sprintf("[x[y] for x in [%s] for y in [%s]][0]", x, y), fmt.Sprintf("(%s)[%s]", x, y),
				fmt.Sprintf("{(%s): 1}", x), fmt.Sprintf("[str(x) + repr(y) for x in [%s] for y in [%s]]", x, y))
		}
		for _, lo := range []string{"", "0", "1", "-1", "9", "-9"} {
			for _, hi := range []string{"", "0", "2", "-1", "9", "None"} {
				for _, step := range []string{"", ":1", ":2", ":-1", ":-2", ":0"} {
					slice := fmt.Sprintf("x[%s:%s%s]", lo, hi, step)
					if strings.HasPrefix(x, "range") {
						slice = "list(" + slice + ")" // there are many ways to write an empty range
					}
					expressions = append(expressions, fmt.Sprintf("[%s for x in [%s]][0]", slice, x))
				}
			}
		}
		for _, f := range []string{"list", "tuple", "set", "dict", "sorted", "reversed", "enumerate", "zip", "any", "all", "min", "max", "str", "repr", "int", "float", "bool", "len", "bytes", "hash", "type", "print"} {
			expressions = append(expressions, fmt.Sprintf("%s(%s)", f, x))
		}
		for _, m := range []string{
			"join(['a', 'b'])", "replace('a', 'bb')", "replace('', '-')", "replace('a', 'b', 1)", "split()", "split('b')", "split(None, 1)", "rsplit('b', 1)", "splitlines()",
			"upper()", "title()", "lower()", "capitalize()", "count('a')", "find('b')", "rfind('b')", "index('b')", "rindex('z')", "index(1)", "format(1, 'x', [2])",
			"extend([1])", "extend('a')", "insert(0, 1)", "pop()", "pop(0)", "pop('a')", "pop('z', 1)", "remove(1)", "keys()", "values()", "items()", "update({'b': 2})",
			"update([('a', 1)])", "update([1])", "get('a')", "get('z', 5)", "get([])", "setdefault('q', 1)", "add(1)", "add([])", "discard(1)", "union([1])", "difference([1])",
			"intersection([1, 1])", "issubset([1])", "issuperset([])", "symmetric_difference([1, 2])", "nothing()", "append(1)",
		} {
			expressions = append(expressions, fmt.Sprintf("[(r, x) for x in [%s] for r in [x.%s]]", x, m))
		}
		for _, format := range []string{"'{} {0}'", "'{}'", "'{!r}'", "'{a}'", "'{{}}'", "'}'"} {
			expressions = append(expressions, fmt.Sprintf("[%s.format(x) for x in [%s]][0]", format, x), fmt.Sprintf("[%s.format(a = x) for x in [%s]][0]", format, x))
		}
		for _, format := range []string{"'%s'", "'%r %%'", "'%d'", "'%x %s'", "'%(a)s'", "'%f'", "'%(a)s %(z)s'", "'%'"} {
			expressions = append(expressions, fmt.Sprintf("[%s %% x for x in [%s]][0]", format, x))
		}
	}
	expressions = append(expressions,
		"sorted([3, 1, 2], reverse = True)", "sorted(['b', 'A'], key = lambda s: s.lower())", "sorted([1, 'a'])", "sorted([(1, 'b'), (1, 'a'), (0, 'c')], key = lambda p: p[0])",
		"sorted([(1, 'b'), (1, 'a'), (0, 'c')], key = lambda p: p[0], reverse = True)", "max([1, 3, 3.0])", "min('b', 'a')", "max([])", "max([-2, 1], key = lambda x: -x)",
		"min(1, 'a')", "enumerate(['a'], 5)", "zip([1, 2], 'ab'.elems(), (3,))", "zip()", "dict([(1, 2)], a = 3)", "dict(a = 1, **{'b': 2})", "(lambda *a, **k: (a, k))(*[1, 2], **{'c': 3})",
		"(lambda *a: a)(*range(3))", "(lambda *a: a)(*1)", "[x for x in [1] if x in (1, 2)]", "'a' in ['a', 'b']", "{x * 2: x for x in range(3)}", "[f for f in ['a,b'.split]][0](',')",
		"getattr('a b', 'split')()", "getattr(1, 'x', 2)", "getattr(1, 'x')", "hasattr('', 'join')", "int('ff', 16)", "int('0x1f', 0)", "int('1_0')", "int(' 5 ')", "'%s %s' % (1,)", "'%s' % (1, 2)",
		"fail('a', 1, [2], sep = '-')", "json.encode({'b': [1, 2.5, None, True, 'é\"\\n'], 'a': (1,)})", "json.decode('{\"a\": [1, -2.5e3, \"\\\\u00e9\", null, true]}')", "json.decode('[1')",
		"json.decode('nope', default = 7)", "json.indent('{\"a\": [1, {}], \"b\": []}')", "json.encode_indent([1, [2]], prefix = '>', indent = ' ')", "json.encode(set([1]))", "json.encode({1: 2})",
		"json.encode(float('nan'))", "json.decode('123456789012345678901234567890')", "json.encode(len)",
	)
	same, failed, bindings := 0, 0, table(t)
	for i, expression := range expressions {
		if !*soak && i%5 != 0 && i < len(expressions)-100 {
			continue
		}
		source := "def main():\n  return repr([" + expression + "])\n"
		want, wantErr := plain(source)
		r, f := program.Run(program.Program{Source: source, Limits: limits()}, bindings, &host{t: t})
		got := ""
		if f == nil {
			got = toJSON(t, r.Value)
		}
		switch {
		case wantErr == nil && f == nil:
			if got != want {
				t.Errorf("%s\n got %s\nwant %s", expression, got, want)
			}
			same++
		case wantErr != nil && f != nil:
			failed++
			if f.Class != fault.ProgramError && f.Limit != fault.WorkerMemory {
				t.Errorf("%s: %v", expression, f)
			}
		case differs(expression):
		default:
			t.Errorf("%s: got %s and %v, want %s and %v", expression, got, f, want, wantErr)
		}
	}
	t.Logf("%d values and %d failures are the same", same, failed)
}

// differs are the expressions that are to differ: Python has list.count.
func differs(expression string) bool {
	return strings.Contains(expression, ".count('a')") && strings.Contains(expression, "x in [[")
}

// plain runs source on the interpreter as it is; the result is JSON of a string.
func plain(source string) (string, error) {
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	thread := &starlark.Thread{Print: func(*starlark.Thread, string) {}}
	globals, err := starlark.ExecFileOptions(options, thread, "plain", source, starlark.StringDict{"json": json.Module})
	if err != nil {
		return "", err
	}
	v, err := starlark.Call(thread, globals["main"], nil, nil)
	if err != nil {
		return "", err
	}
	return string(canon.AppendString(nil, strings.ToValidUTF8(string(v.(starlark.String)), "?"))), nil
}
