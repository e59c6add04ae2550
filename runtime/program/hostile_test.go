package program_test

import (
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

// What would take too much or too long ends within a small part of a process's
// memory, by the limit it would break or with an error of the program's.
func TestBounds(t *testing.T) {
	const memory, steps = fault.WorkerMemory, fault.MaxSteps
	// By name, what ends it: a limit, or a part of the message.
	for _, c := range []struct{ source, want string }{
		// Sized before they are built.
		{"'x' * (1 << 30)", memory}, {"(1 << 30) * b'x'", memory}, {"[0] * (1 << 30)", memory}, {"(0,) * (1 << 26)", memory}, {"'x' * (1 << 200)", "cannot fit 'int'"},
		{"s = 'x' * 1000\nfor i in range(40): s += s\nlen(s)", memory}, {"s = b'x' * 1000\nfor i in range(40): s = s + s\nlen(s)", memory},
		{"s = [0] * 1000\nfor i in range(40): s = s + s\nlen(s)", memory}, {"s = (0,) * 1000\nfor i in range(40): s = s + s\nlen(s)", memory},
		{"s = [0] * 1000\nfor i in range(40): s += s\nlen(s)", steps}, {"d = {'k': 'x' * 1000}\nfor i in range(40): d['k'] += d['k']\nlen(d)", memory},
		{"d = [['x' * 1000]]\nfor i in range(40): d[0][0] += d[0][0]\nlen(d)", memory}, {"s = '%s' * 100\ns %= ('b' * 1000000,) * 100", memory}, {"s = ['%s' * 100]\ns[0] %= ('b' * 1000000,) * 100", memory},
		{"'{0}' * 10000\n('{0}' * 10000).format('b' * 1000000)", memory}, {"('%(a)s' * 10000) % {'a': 'b' * 1000000}", memory}, {"('%s' * 100) % (('b' * 1000000,) * 100)", memory},
		{"('a' * 100000).replace('a', 'b' * 100000)", memory}, {"('a' * 100000).replace('', 'b' * 100000)", memory}, {"','.join(['a' * 1000000] * 2000)", memory},
		{"f = ','.join\nf(['a' * 1000000] * 2000)", memory}, {"getattr(',', 'join')(['a' * 1000000] * 2000)", memory}, {"('a ' * 30000000).split(' ')", memory}, {"('a ' * 30000000).split()", memory},
		{"('\\n' * 30000000).splitlines()", memory}, {"list(range(100000000))", memory}, {"x = []\nx.extend(range(100000000))", memory}, {"x = []\nx += range(100000000)", memory},
		{"(lambda *a: a)(*range(100000000))", memory}, {"sorted(range(100000000))", memory}, {"reversed(range(100000000))", memory}, {"list(enumerate(range(100000000)))", steps},
		{"set(range(5000000))", memory}, {"list('a' * 5000000)", memory}, {"tuple(range(100000000))", memory},
		// Ints.
		{"n = 3\nfor i in range(40): n = n * n\nn > 0", "262144 bits"}, {"n = 3\nfor i in range(40): n *= n\nn > 0", "262144 bits"}, {"n = 1\nfor i in range(100000): n = n << 511\nn > 0", "262144 bits"},
		{"n = 3\nfor i in range(14): n *= n\nstr(n)", "4300 digits"}, {"n = 3\nfor i in range(14): n *= n\n'%d' % n", "4300 digits"}, {"n = 3\nfor i in range(14): n *= n\n'{}'.format(n)", "4300 digits"},
		{"n = 3\nfor i in range(14): n *= n\njson.encode(n)", "4300 digits"}, {"int('9' * 5000)", "4300 digits"}, {"json.decode('9' * 5000)", "4300 digits"}, {"float('9' * 5000)", "could not convert"},
		// Nested and shared values.
		{"x = []\nfor i in range(100000): x = [x]\nrepr(x)", "nested more than 1000 deep"}, {"x = []\nfor i in range(100000): x = [x]\n'%s' % x", "nested more than 1000 deep"},
		{"x = []\ny = []\nfor i in range(100000):\n  x = [x]\n  y = [y]\nx == y", "nested more than 1000 deep"}, {"x = []\nx.append(x)\ny = []\ny.append(y)\nx == y", "nested more than 1000 deep"},
		{"x = []\ny = []\nfor i in range(100000):\n  x = [x]\n  y = [y]\nx in [y]", "nested more than 1000 deep"},
		{"x = ['x']\nfor i in range(40): x = [x, x]\nrepr(x)", steps}, {"x = ['x']\ny = ['x']\nfor i in range(40):\n  x = [x, x]\n  y = [y, y]\nx == y", steps},
		{"x = ['x']\nfor i in range(40): x = [x, x]\njson.encode(x)", steps}, {"x = ('x',)\nfor i in range(40): x = (x, x)\n{x: 1}", "8 deep"}, {"x = ('x',)\nfor i in range(40): x = (x, x)\nd = {}\nd[x] = 1", "8 deep"},
		{"x = ('x',)\nfor i in range(40): x = (x, x)\nset([x])", "8 deep"}, {"x = ('x',)\nfor i in range(40): x = (x, x)\n[1 for i in [1] if {}.get(x)]", "8 deep"},
		{"x = ('x',)\nfor i in range(5): x = x * 20\n{x: 1}", "10000 parts"}, {"json.decode('[' * 2000000 + ']' * 2000000)", "more than 64 deep"}, {"json.indent('[' * 20000 + ']' * 20000)", "more than 64 deep"},
		{"x = []\nfor i in range(65): x = [x]\njson.encode(x)", "64 deep"}, {"x = []\nx.append(x)\njson.encode(x)", "64 deep"}, {"x = ['x']\nfor i in range(40): x = [x, x]\nfail(x)", "RuntimeError: [["},
		// A step for each element, and for each 64 bytes.
		{"all(range(1, 2000000000))", steps}, {"max(range(2000000000))", steps}, {"sum(range(2000000000))", steps}, {"list(zip(range(2000000000), range(2000000000)))", steps},
		{"x = [0] * 100000\nwhile True: x.pop(0)", steps}, {"x = list(range(100000))\nwhile True: -1 in x", steps}, {"x = list(range(1000))\nwhile True: x.index(999)", steps}, {"s = 'a' * 1000000\nwhile True: s.find('b')", steps},
		{"d = {i: 1 for i in range(10000)}\nwhile True: d.keys()", steps}, {"d = {i: 1 for i in range(10000)}\nwhile True: d = d | {1: 2}", steps}, {"x = [0] * 100000\nwhile True: x[:]", steps}, {"s = 'a' * 1000000\nwhile True: 'b' in s", steps},
		{"s = set(range(10000))\nwhile True: s.union([1])", steps},
		// Keys that the interpreter hashes alike.
		{"d = {}\nfor i in range(60000): d[i << 32] = i", steps}, {"d = {}\nfor i in range(60000): d[i << 16] = i", steps}, {"d = {i << 64: i for i in range(60000)}", steps},
		{"s = set([i << 32 for i in range(60000)])", steps}, {"s = set()\nfor i in range(60000): s.add((i << 32, 0))", steps}, {"d = {}\nfor i in range(60000): d.setdefault(i * 4294967296.0, i)", steps},
	} {
		t.Run(c.source, func(t *testing.T) {
			l := limits()
			l.Steps = 8_000_000
			if c.want == steps {
				l.Steps = 800_000
			}
			began := time.Now()
			_, f := program.Run(program.Program{Source: c.source, Limits: l, Memory: 1 << 28}, table(t), &host{t: t})
			if f == nil || f.Limit != c.want && !strings.Contains(f.Message, c.want) {
				t.Fatalf("ended with %v, want %s", f, c.want)
			}
			if f.Limit == fault.WorkerMemory && f.Bound != 1<<28 {
				t.Errorf("the bound is %d", f.Bound)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// Honest programs do not pay for crowds: keys that are spread, or few, or alike
// in many small dicts.
func TestHonestKeys(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"d = {}\nfor i in range(20000): d[i * 1000] = i\nlen(d)", "20000"},
		{"d = {}\nfor i in range(3000): d[7000000000000 + i * 4096] = i\nlen(d)", "3000"},
		{"d = {}\nfor i in range(20000): d[i % 3] = d.get(i % 3, 0) + 1\nlen(d)", "3"},
		{"d = {i: 1 for i in range(2000)}\nfor i in range(20000): d[5] += 1\nd[5]", "20001"},
		{"x = [{0: i, 1: i} for i in range(20000)]\nlen(x)", "20000"},
		{"d = {}\nfor i in range(20000): d[(i, 'a')] = i\nlen(d)", "20000"},
		{"len(set([str(i) for i in range(20000)]))", "20000"},
	} {
		if got, f := run(t, c.source); f != nil || got != c.want {
			t.Errorf("%s: got %s, %v", c.source, got, f)
		}
	}
}
