"""Writes random programs and CPython's answers, as record.py writes them.

The same seed gives the same programs. Each ends, is small, and has as its value
the repr of what it computed. Run it with CPython 3.11 or later:
    python3 generate.py SEED COUNT FILE [BYTES]
Programs of more than so many bytes are left out. It prints how many of the programs use each construct.
"""
import random
import re
import signal
import sys

import constructs
import expressions
import record

NAMES = {"int": "ijk", "float": "fgh", "str": "stu", "bool": "bc", "ints": "xyz", "strs": "pqr", "map": "dem", "set": "vw"}
# What is known to differ: the order of sets (and which of their elements a sort
# cannot compare), and the texts of bounds.
DIFFERS = re.compile(r"Exceeds the limit|[^ ]{190} is not in list|(?:float|base [0-9]+): .{190}|MemoryError|\{[^{}:]*,[^{}:]*\}|\{-?[0-9]+\}")
LIMIT = 30  # lines of a program


class Program(expressions.Expressions):
    """One program. Blocks are lists of lines, which know no indentation."""

    def __init__(self, rng):
        super().__init__(rng)
        self.lines = 0
        self.functions = []  # (name, types of parameters, type)
        self.loops = 0  # around
        self.inside = 0  # functions around
        self.count = 0

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def block(self, n, depth):
        """n statements; what they assign first is unknown behind them."""
        before, functions = {k: list(v) for k, v in self.names.items()}, list(self.functions)
        out = []
        for _ in range(n):
            out += self.statement(depth)
        self.names, self.functions = before, functions
        return ["    " + line for line in out or ["pass"]]

    def target(self, type):
        """A variable to assign, new or not."""
        known = self.names[type]
        if known and self.chance(0.4):
            return self.pick(known)
        name = self.pick(NAMES[type]) + ("" if not self.inside else str(self.inside))
        if name not in known:
            self.later.append((type, name))
        return name

    def assigned(self):
        for type, name in self.later:
            if name not in self.names[type]:
                self.names[type].append(name)
        self.later = []

    def statement(self, depth):
        self.lines += 1
        if self.lines > LIMIT:
            return ["log.append(0)"]
        kinds = ["assign"] * 7 + ["augment"] * 3 + ["change"] * 4 + ["log"] * 3 + ["unpack", "delete", "assert", "print", "walrus"]
        if depth > 0:
            kinds += ["if"] * 3 + ["for"] * 3 + ["while"] * 2 + ["try"] * 4 + ["raise"]
            if self.inside < 2 and not self.loops:
                kinds += ["function"] * (3 + 3 * self.inside)
        if self.loops:
            kinds += ["leave"]
        if self.inside:
            kinds += ["return"]
        return getattr(self, self.pick(kinds) + "_statement")(depth)

    def assign_statement(self, depth):
        type = self.type()
        value = self.expression(type, 3)
        name = self.target(type)
        if type == "int" and self.loops:
            value = f"({value}) % 10007"
        form = self.pick(["{n} = {v}"] * 6 + ["{n}: {t} = {v}", "{n} = other = {v}"])
        self.assigned()
        return [form.format(n=name, v=value, t=self.annotation(type))]

    def augment_statement(self, depth):
        type = self.pick([t for t in ("int", "float", "str", "ints", "set", "map") if self.names[t]] or ["int"])
        if not self.names[type]:
            return self.assign_statement(depth)
        name = self.pick(self.names[type])
        op = {"int": ["+", "-", "//", "%", "&", "|", "^"], "float": ["+", "-", "/"], "str": ["+"], "ints": ["+"], "set": ["|", "&", "-", "^"], "map": ["|"]}
        if type == "ints" and self.loops or type == "str" and self.loops:
            return [f"{name} = {name}[-3:]"]
        return [f"{name} {self.pick(op[type])}= {self.expression(type, 1)}"]

    def change_statement(self, depth):
        """A method, an item or a slice of something that can be changed."""
        type = self.pick([t for t in ("ints", "strs", "map", "set") if self.names[t]] or ["none"])
        if type == "none":
            return self.assign_statement(depth)
        self.strict += type == "set"
        n, v, i = self.pick(self.names[type]), self.expression("int", 1), self.expression("int", 1)
        self.strict -= type == "set"
        if type == "map":
            k = self.expression("str", 1)
            return [self.pick([f"{n}[{k}] = {v}", f"{n}[{k}] += {v}", f"{n}.pop({k}, None)", f"{n}.setdefault({k}, {v})", f"{n}.update({{{k}: {v}}})",
                               f"{n}[{k}] = {n}.get({k}, 0) + {v}", f"log.append({n}.pop({k}))", f"{n}.update(z={v})", f"log.append({n}.popitem())", f"{n}.clear()"])]
        if type == "set":
            return [self.pick([f"{n}.add({v})", f"{n}.discard({v})", f"{n}.remove({v})", f"{n}.update([{v}, {i}])", f"{n}.difference_update({{{v}}})",
                               f"{n}.intersection_update({self.expression('set', 1)})", f"{n}.symmetric_difference_update([{v}])"])]
        if type == "strs":
            v = self.expression("str", 1)
        other = self.expression(type, 1)
        grow = [f"{n}.append({v})", f"{n}.insert({i}, {v})", f"{n}.extend({other})", f"{n}[{i}:{i}] = {other}", f"{n} *= 2"]
        keep = [f"{n}[{i}] = {v}", f"{n}.reverse()", f"{n}.sort()", f"{n}.sort(key=lambda a: -len(str(a)))", f"{n}.sort(reverse=True)", f"{n}.remove({v})",
                f"log.append({n}.pop())", f"log.append({n}.pop({i}))", f"{n}[::2] = {n}[1::2]", f"{n}[{i}:] = []", f"log.append({n}.index({v}))",
                f"{n}[0], {n}[-1] = {n}[-1], {n}[0]", f"{n}[:] = {n}[::-1]", f"{n}.clear()", f"{n} = {n}.copy()"]
        return [self.pick(keep if self.loops else grow + keep)]

    def log_statement(self, depth):
        type = self.type()
        return [f"log.append({'sorted' if type == 'set' else ''}({self.expression(type, 3)}))"]

    def unpack_statement(self, depth):
        a, b = self.target("int"), self.target("int")
        form = self.pick(["{a}, {b} = {x}, {y}", "{a}, *rest = [{x}, {y}, {x}]", "*rest, {b} = ({x}, {y})", "[{a}, ({b}, rest)] = {x}, ({y}, {s})",
                          "{a}, {b} = divmod({x}, {y})", "{a}, {b} = sorted([{x}, {y}])", "{a}, *rest = {l}", "{a}, {b} = {l}", "{a}, {b} = {l}[:2]"])
        line = form.format(a=a, b=b, x=self.expression("int", 2), y=self.expression("int", 2), s=self.expression("str", 1), l=self.expression("ints", 1))
        self.later = [(t, n) for t, n in self.later if n in line.split("=")[0]]
        self.assigned()
        return [line] + (["log.append(rest)"] if "rest" in line else [])

    def delete_statement(self, depth):
        type = self.pick([t for t in ("ints", "map") if self.names[t]] or ["none"])
        if type == "none":
            return ["gone = 1", "del gone"]
        n = self.pick(self.names[type])
        if type == "map":
            return [f"del {n}[{self.expression('str', 1)}]"]
        return [self.pick([f"del {n}[{self.expression('int', 1)}]", f"del {n}[1:3]", f"del {n}[::2]", f"del {n}[-1:]"])]

    def assert_statement(self, depth):
        return [f"assert {self.expression('bool', 2)}" + self.pick(["", f", {self.expression('str', 1)}"])]

    def print_statement(self, depth):
        return [f"print({self.expression(self.type(), 1)}, {self.expression(self.type(), 1)}" + self.pick([")", ", sep='-')", ", end='')"])]

    def walrus_statement(self, depth):
        name = self.target("int")
        lines = [f"if (({name} := {self.expression('int', 2)})) > {self.rng.randint(0, 5)}:", f"    log.append({name})"]
        self.assigned()
        return lines

    def if_statement(self, depth):
        out = [f"if {self.expression('bool', 2)}:"] + self.block(self.rng.randint(1, 3), depth - 1)
        if self.chance(0.3):
            out += [f"elif {self.expression(self.type(), 1)}:"] + self.block(1, depth - 1)
        if self.chance(0.5):
            out += ["else:"] + self.block(self.rng.randint(1, 2), depth - 1)
        return out

    def loop_body(self, out, depth, bound):
        self.loops += 1
        kept = {k: list(v) for k, v in self.names.items()}
        for type, name in bound:
            self.names[type].append(name)
        out += self.block(self.rng.randint(1, 3), depth - 1)
        self.names = kept
        self.loops -= 1
        if self.chance(0.35):
            out += ["else:"] + self.block(1, depth - 1)
        return out

    def for_statement(self, depth):
        if self.loops > 1:
            return self.if_statement(depth)
        n = self.fresh("n")
        head, bound = self.pick([
            (f"{n} in range({self.rng.randint(0, 5)})", [("int", n)]),
            (f"{n} in {self.expression('ints', 2)}[:4]", [("int", n)]),
            (f"{n} in {self.expression('str', 2)}[:3]", [("str", n)]),
            (f"{n}, {n}v in enumerate({self.expression('strs', 1)}[:3])", [("int", n), ("str", n + "v")]),
            (f"{n}, {n}v in sorted({self.expression('map', 1)}.items())[:3]", [("str", n), ("int", n + "v")]),
            (f"{n}, {n}v in list({self.expression('map', 1)}.items())", [("str", n), ("int", n + "v")]),
            (f"{n}, {n}v in zip({self.expression('ints', 1)}, {self.expression('strs', 1)})", [("int", n), ("str", n + "v")]),
            (f"{n} in ({n}w * 2 for {n}w in {self.expression('ints', 1)}[:3])", [("int", n)]),
            (f"{n} in sorted({self.expression('set', 1)})[:3]", [("int", n)]),
            (f"{n} in reversed({self.expression('ints', 1)}[:3])", [("int", n)]),
            (f"{n} in map(lambda a: a + 1, {self.expression('ints', 1)}[-2:])", [("int", n)]),
        ])
        return self.loop_body([f"for {head}:"], depth, bound)

    def while_statement(self, depth):
        if self.loops > 1:
            return self.if_statement(depth)
        n = self.fresh("n")
        out = self.loop_body([f"while ({n} := {n} - 1) > 0:" if self.chance(0.3) else f"while {n} > 0:"], depth, [])
        if ":=" not in out[0]:
            out.insert(1, f"    {n} -= 1")
        return [f"{n} = {self.rng.randint(1, 4)}"] + out

    def leave_statement(self, depth):
        word = self.pick(["break", "continue"])
        return [f"if {self.expression('bool', 1)}:", "    " + word]

    def return_statement(self, depth):
        return [f"if {self.expression('bool', 1)}:", f"    return {self.expression(self.returns, 2)}"]

    def raise_statement(self, depth):
        what = self.pick(["ValueError({s})", "KeyError({s})", "TypeError({s}, {i})", "IndexError", "RuntimeError()", "ValueError({i}) from KeyError({s})", "ValueError({s}) from None"])
        return [f"if {self.expression('bool', 1)}:", "    raise " + what.format(s=self.expression("str", 1), i=self.expression("int", 1))]

    def try_statement(self, depth):
        loops = self.loops
        out = ["try:"] + self.block(self.rng.randint(1, 3), depth - 1)
        handlers = self.rng.sample(["ValueError", "(KeyError, IndexError)", "TypeError", "ZeroDivisionError", "LookupError", "Exception", "(ArithmeticError, AssertionError)"], self.rng.randint(0, 3))
        for h in handlers:
            as_ = self.chance(0.7)
            out += [f"except {h}" + (" as err:" if as_ else ":")]
            if as_:
                out += ["    log.append(" + self.pick(["str(err)", "repr(err)", "type(err).__name__", "err.args", "repr(err.__cause__)", "isinstance(err, LookupError)"]) + ")"]
            if self.chance(0.6):
                out += self.block(1, depth - 1)
            elif not as_:
                out += ["    pass"]
            if self.chance(0.15):
                out += ["    " + self.pick(["raise", "raise RuntimeError('again')"] + (["raise KeyError('more') from err"] if as_ else []))]
        if handlers and self.chance(0.4):
            out += ["else:"] + self.block(1, depth - 1)
        if not handlers or self.chance(0.4):
            out += ["finally:"] + self.block(1, depth - 1)
        self.loops = loops
        return out

    def function_statement(self, depth):
        name = self.fresh("fun")
        types = [self.type() for _ in range(self.rng.randint(0, 2))]
        returns = self.type()
        parameters = [self.fresh("a") for _ in types]
        head = [p + (f": {self.annotation(t)}" if self.chance(0.2) else "") for p, t in zip(parameters, types)]
        extra = self.pick([""] * 3 + ["*more", "**named", "**named", "*, key={d}", "option={d}", "*more, key={d}", "*more, **named"])
        if extra:
            head.append(extra.format(d=self.rng.randint(0, 9)))
        asynchronous = self.chance(0.12) and not self.inside
        outer = self.names, self.functions, self.loops, getattr(self, "returns", None), self.later
        self.names = {k: [n for n in v] for k, v in self.names.items()}
        self.functions = list(self.functions)
        body, own = [], {k: [] for k in self.names}
        declared = [n for n in self.names["int"] if self.chance(0.3 + 0.5 * self.inside)]
        if declared and self.chance(0.8):
            word = "global" if self.inside == 0 else "nonlocal"
            kept = [n for n in declared if word == "global" or n.endswith("1")]
            if kept:
                body.append(f"    {word} {', '.join(kept)}")
                own["int"] += kept
        for t, p in zip(types, parameters):
            own[t].append(p)
        for e in ("key", "option"):
            if e + "=" in extra:
                own["int"].append(e)
        visible = self.names
        self.inside += 1
        self.loops, self.returns, self.later = 0, returns, []
        # Names of outer functions are read only where nothing here assigns them.
        self.names = own if self.chance(0.6) else {k: own[k] + [n for n in visible[k] if n not in NAMES[k]] for k in own}
        body += self.block(self.rng.randint(1, 4), min(depth, 2) - 1 if depth < 3 else 2)
        body.append(f"    return {self.expression(returns, 2)}")
        for _ in extra and [1] or []:
            if "more" in extra:
                body.insert(len(body) - 1, "    log.append(more)")
            if "named" in extra:
                body.insert(len(body) - 1, "    log.append(named)")
        self.inside -= 1
        self.names, self.functions, self.loops, self.returns, self.later = outer
        arrow = f" -> {self.annotation(returns)}" if self.chance(0.2) else ""
        out = [("async " if asynchronous else "") + f"def {name}({', '.join(head)}){arrow}:"] + body
        if asynchronous:
            return out + self.awaited(name, types)
        self.functions.append((name, types, returns, extra))
        return out

    def awaited(self, name, types):
        call = f"{name}({', '.join(self.expression(t, 1) for t in types)})"
        run = self.fresh("run")
        body = self.pick([f"await {call}", f"await asyncio.gather({call}, {call})", f"[await {call} for _ in range(2)]", f"(await {call}, 1)",
                          f"await asyncio.gather(*[{call} for _ in range(2)], return_exceptions=True)"])
        if "return_exceptions" in body:
            body = f"[repr(r) for r in {body}]"
        return ["import asyncio", f"async def {run}():", f"    return {body}", f"log.append(asyncio.run({run}()))"]

    def text(self):
        out = ["log = []"] + (["import json, math"] if self.chance(0.3) else [])
        self.modules = len(out) > 1
        for type in self.rng.sample(sorted(NAMES), 5):
            name = NAMES[type][0]
            out.append(f"{name} = {self.literal(type)}")
            self.names[type].append(name)
        caught = self.chance(0.6)  # so that the rest is run too
        for _ in range(self.rng.randint(3, 6)):
            lines = self.statement(3)
            if caught and self.chance(0.7):
                lines = ["try:"] + ["    " + line for line in lines] + ["except Exception as err:", "    log.append(repr(err))"]
            out += lines
        if self.chance(0.05):
            out += ['if __name__ == "__main__":', "    log.append(1)"]
        shown = ["log"] + [f"sorted({n})" if t == "set" else n for t in sorted(self.names) for n in self.names[t]]
        return "\n".join(out + [f"repr([{', '.join(shown)}])"]) + "\n"


class TooLong(BaseException):
    """A program that is left out."""


def stop(*_):
    raise TooLong


def program(seed):
    """The program of a seed, and CPython's answer."""
    source = Program(random.Random(seed)).text()
    signal.alarm(2)
    answer = record.answer(source)
    signal.alarm(0)
    return source, answer


def main():
    seed, count, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    most = int(sys.argv[4]) if len(sys.argv) > 4 else 10_000
    signal.signal(signal.SIGALRM, stop)
    used, chunks = constructs.Counter(), []
    n = 0
    while len(chunks) < count:
        n += 1
        source, answer = program(f"{seed}/{n}")
        if answer in ("RecursionError", "SyntaxError", "TooLong") or len(answer) > 4000 or len(source) > most or DIFFERS.search(answer) or "not supported between" in answer and "sorted(" in source:
            continue
        used.add(source, answer)
        chunks.append(source + "---\n" + answer + "\n")
    with open(name, "w", encoding="utf-8") as f:
        f.write("===\n".join(chunks))
    used.print()


if __name__ == "__main__":
    main()
