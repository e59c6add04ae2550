package program_test

import (
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

// What Python has beyond Starlark ends as soon, by a limit or an exception of
// the program's own.
func TestBoundsOfPython(t *testing.T) {
	const memory, steps = fault.WorkerMemory, fault.MaxSteps
	for _, c := range []struct{ source, want string }{
		// Iterators are asked at a step each.
		{"sum(1 for _ in range(10**12))", steps}, {"list(map(lambda x: x, range(10**12)))", steps}, {"max(filter(None, range(10**12)))", steps},
		{"next(filter(lambda x: False, range(10**12)), 1)", steps}, {"for x in enumerate(range(10**12)): pass", steps}, {"for x in zip(range(10**12)): pass", steps},
		{"any(False for x in range(10**12))", steps}, {"{x for x in range(10**9)}", steps}, {"{x: x for x in range(10**9)}", steps}, {"sorted(range(10**9), key=lambda x: -x)", memory},
		{"','.join(str(x) for x in range(10**12))", steps}, {"a, *b = range(10**9)", memory}, {"[*range(10**9)]", memory}, {"{**{i: i for i in range(10**9)}}", steps},
		// Functions that call each other through builtins.
		{"def f(x): return sorted([1, 2], key=f)\nf(1)", "deep"}, {"def f(n): return max([n], key=lambda v: f(n + 1))\nf(0)", "deep"}, {"def f(n): return list(map(f, [n]))\nf(0)", "deep"},
		{"def f(n): return sum(f(n) for _ in range(1))\nf(0)", "deep"}, {"def f(n): return attempt(f, n)\nf(0)", "deep"}, {"async def f(): return await f()\nawait f()", "deep"},
		{"async def f(): return await asyncio.gather(f())\nawait f()", "within each other"}, {"def f(): return parallel([f])\nf()", "within each other"},
		{"def f():\n  try:\n    return f()\n  except Exception:\n    return 1\nf()", "deep"}, {"def f():\n  try:\n    f()\n  finally:\n    f()\nf()", "deep"},
		{"def f(): return f()\ntry:\n  f()\nexcept BaseException:\n  1", "deep"}, {"f = lambda: 0\nfor i in range(9000): f = (lambda g: lambda: g())(f)\nf()", "deep"},
		// Nothing that a program catches ends a limit.
		{"while True:\n  try:\n    raise ValueError('x')\n  except:\n    continue", steps}, {"while True:\n  try:\n    while True: pass\n  except BaseException:\n    pass\n  finally:\n    continue", steps},
		{"while True:\n  try:\n    'x' * (1 << 30)\n  except BaseException:\n    pass", memory}, {"x = 1\nwhile True:\n  try:\n    x = x << 1000\n  except OverflowError:\n    pass", steps},
		{"try:\n  sum(range(10**12))\nexcept:\n  pass\nfinally:\n  result = 1", steps},
		// Formats.
		{"f\"{'x':>1000000000}\"", "Too many decimal digits"}, {"f'{1.5:.{10**9}f}'", "Too many decimal digits"}, {"'%1000000000d' % 1", "Too many decimal digits"}, {"'%*d' % (10**9, 1)", "width too big"},
		{"s = 'x' * 1000000\nf'" + strings.Repeat("{s}", 100) + "'", memory}, {"'x'.ljust(10**12)", memory}, {"'x'.center(10**12)", memory}, {"'x'.zfill(10**12)", memory},
		{"('\\t' * 1000000).expandtabs(1000000)", memory}, {"('a' * 1000000).translate({97: 'b' * 1000000})", memory}, {"f'{10**5000}'", "4300 digits"}, {"f'{10**5000:,}'", "4300 digits"},
		{"s = 'a' * 1000000\nwhile True: f'{s:.3}'", steps}, {"s = 'a' * 1000000\nwhile True: '%.3s' % s", steps}, {"s = 'a' * 1000000\nwhile True: f'{s!a}'", steps},
		// Ints.
		{"2 ** 10**10", "262144 bits"}, {"pow(3, 10**9)", "262144 bits"}, {"pow(3, 1 << 200000, (1 << 200000) + 1)", steps}, {"1 << 10**10", "262144 bits"}, {"math.factorial(10**8)", "262144 bits"},
		{"math.comb(10**9, 5 * 10**8)", "262144 bits"}, {"math.perm(10**9, 10**8)", "262144 bits"}, {"math.lcm(*range(1, 100000))", steps}, {"math.prod(range(1, 10**6))", "262144 bits"},
		{"a = 10**40000\nwhile True: a // 3", steps}, {"a = 10**40000\nwhile True: a + a", steps}, {"a = 10**40000\nwhile True: a >> 1", steps}, {"a = 10**4000\nwhile True: str(a)", steps}, {"a = '1' * 4000\nwhile True: int(a)", steps},
		{"a = [1e300, 1e-300] * 1000\nwhile True: math.fsum(a)", steps},
		// Frozen sets and types within each other, and errors that are looked up in the source.
		{"f = frozenset()\nfor i in range(100): f = frozenset([(f, f, i)])", "nested"}, {"f = frozenset([1])\nfor i in range(100): f = frozenset([f])", "nested"},
		{"s = frozenset(range(10000))\nwhile True: {s: 1}", steps}, {"s = frozenset(range(10000))\nwhile True: s | s", steps}, {"frozenset(range(10**12))", steps},
		{"f = frozenset(range(9000))\nfrozenset([(f, 1), (f, 2)])", "parts"}, {"f = frozenset(range(9000))\n{(f, f): 1}", "parts"}, {"a = list[int]\nfor i in range(100): a = dict[a, a]", memory},
		{"while True:\n  isinstance(1, int | str)", steps}, {"def f(): return [x for i in 'a']\n" + strings.Repeat("def g(): return [y for y in 'a']\n", 1000) + "while True:\n  try: f()\n  except NameError: pass\nx = 1", steps},
		{strings.Repeat("def g(a): return 1\n", 3000) + "while True:\n  try: g(1, 2, **{'b': 1})\n  except TypeError: pass", steps},
		{"d = {i: i for i in range(20000)}\nfor k in d: d[str(k)] = d.pop(k)", "keys changed"}, {"d = {i: i for i in range(20000)}\nfor k in d:\n  d.pop(k + 1, 0)\n  d[-k] = 1", "changed"},
		{"list(iter(lambda: 1, 2))", steps}, {"x = []\nlist(iter(x.copy, 2))", steps}, {"a = [math.hypot(*range(10000)) for _ in range(10**9)]", steps},
		// Lists in place.
		{"x = [0] * 1000\nfor i in range(40): x *= 2", memory}, {"x = [0]\nx *= 1 << 40", memory}, {"x = [0] * 100000\nwhile True: x[0:0] = [1]", steps}, {"x = [0] * 100000\nwhile True:\n  del x[0]\n  x.append(1)", steps},
		{"sum([[1] * 1000] * 100000, [])", steps}, {"x = [0] * 100000\nwhile True: x.sort()", steps}, {"x = [0] * 100000\nwhile True: x.insert(0, 1)", steps}, {"x = [1] * 100000\nwhile True: a, *b = x", steps},
		// Dicts, sets and views.
		{"d = {i: i for i in range(10000)}\nwhile True: d.copy()", steps}, {"d = {i: i for i in range(10000)}\nk = d.keys()\nwhile True: k & k", steps}, {"d = {i: i for i in range(10000)}\nv = d.values()\nwhile True: next(iter(v))", steps},
		{"d = {i: i for i in range(10000)}\nwhile True:\n  d.popitem()\n  d[1] = 1", steps}, {"s = set(range(10000))\nwhile True: s.isdisjoint({-1})", steps}, {"s = set(range(10000))\nwhile True: s <= s", steps},
		{"d = {i << 64: i for i in range(1800)}\nk = 1799 << 64\nfor i in range(30000): d[k]", steps},
		// Text and bytes.
		{"s = 'é' * 5000000\nwhile True: s[2500000]", steps}, {"s = 'a' * 10000000\nwhile True: s.isalpha()", steps}, {"s = 'a' * 1000000\ns.strip('b' * 1000000)", steps}, {"s = 'a' * 10000000\nwhile True: s.startswith(s)", steps},
		{"s = 'a' * 10000000\nwhile True: s.removeprefix(s)", steps}, {"s = 'a' * 10000000\nwhile True: s.encode()", steps}, {"s = 'a' * 1000000\nwhile True:\n  for c in s: break", steps},
		{"bytes(10**12)", memory}, {"b'ab' * 10**12", memory}, {"b = b'a' * 10000000\nwhile True: b == b + b''", steps}, {"b = b'a' * 10000000\nwhile True: b.decode()", steps}, {"b = b'a' * 10000000\nwhile True: 5 in b", steps},
		{"(b'a' * 40000000).hex()", memory},
		// JSON.
		{"json.loads('[' * 100000)", "64 deep"}, {"x = []\nfor i in range(1000): x = [x]\njson.dumps(x)", "64 deep"}, {"json.dumps([1] * 100, indent=10**9)", memory}, {"json.dumps([[[1] * 100]] * 100, indent=' ' * 1000000)", memory},
		{"json.dumps('\\x01' * 20000000)", memory}, {"json.loads('[' + '1,' * 5000000 + '1]')", memory}, {"s = '[' + '1,' * 10000 + '1]'\nwhile True: json.loads(s)", steps},
		// Exceptions.
		{"e = ValueError('x')\nfor i in range(9000): e = ValueError(e)\nrepr(e)", "1000 deep"}, {"raise ValueError('x' * 10000000)", "ValueError: xxx"}, {"raise KeyError('x' * 10000000)", "KeyError: 'xxx"},
		{"x = []\nx.append(x)\nraise ValueError(x)", "[[...]]"}, {"x = {}\nx['a'] = x\ny = {}\ny['a'] = y\nx == y", "1000 deep"},
	} {
		t.Run(c.source, func(t *testing.T) {
			l := limits()
			l.Steps = 12_000_000
			if c.want == steps {
				l.Steps = 800_000
			}
			began := time.Now()
			_, f := program.Run(program.Program{Source: c.source, Limits: l, Memory: 1 << 28}, table(t), &host{t: t})
			if f == nil || f.Limit != c.want && !strings.Contains(f.Message, c.want) {
				t.Fatalf("ended with %v, want %s", f, c.want)
			}
			if len(f.Message) > 4096 || len(f.Trace) > 20 {
				t.Errorf("a message of %d bytes, a trace of %d lines", len(f.Message), len(f.Trace))
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// What a limit ends runs no finally block: nothing of the program runs on.
func TestLimitsRunNothingMore(t *testing.T) {
	h := &host{t: t}
	_, f := runWith(t, "try:\n  while True: pass\nexcept BaseException:\n  records.lookup(key=\"a\")\nfinally:\n  records.lookup(key=\"b\")", limits(), h)
	if f == nil || f.Limit != fault.MaxSteps || len(h.calls) > 0 {
		t.Errorf("%v, called %v", f, h.calls)
	}
}
