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
        kinds = ["assign"] * 7 + ["augment"] * 3 + ["change"] * 4 + ["log"] * 3 + ["unpack", "mixed", "delete", "assert", "print", "walrus", "closure", "spec", "call"]
        if depth > 0:
            kinds += ["if"] * 3 + ["for"] * 3 + ["while"] * 2 + ["try"] * 4 + ["raise", "cause", "during"]
            if self.inside < 2 and not self.loops:
                kinds += ["function"] * (3 + 3 * self.inside) + ["decorator"]
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

    def mixed_statement(self, depth):
        """Targets of several kinds, which are assigned from left to right."""
        known = [t for t in ("ints", "map") if self.names[t]]
        a, b = self.target("int"), self.target("int")
        targets = []
        for type in known:
            n = self.pick(self.names[type])
            targets.append(f"{n}[{self.expression('int' if type == 'ints' else 'str', 1)}]")
        if self.names["ints"] and self.chance(0.5):
            targets.append(f"{self.pick(self.names['ints'])}[{self.rng.randint(-2, 2)}]")
        if not targets:
            targets = [f"box[{self.expression('str', 1)}]"]
        x, y, i = self.expression("int", 2), self.expression("int", 2), self.rng.randint(0, 2)
        t = self.pick(targets)
        form = self.pick(["{a}, {t} = {x}, {y}", "{t}, {a} = {x}, {y}", "{t} = {a} = {x}", "({t}, ({a}, {u})) = {x}, ({y}, {x})", "for {t} in [{x}, {y}]: log.append({i})",
                          "for {t}, {a} in [({x}, {y})]: log.append({a})", "log.append([{i} for {t} in [{x}, {y}]])", "log.append(list({i} for {t}, o in [({x}, {y})]))", "[{t}, *rest] = {x}, {y}", "{a}, {t} = {t}, {x}"])
        line = form.format(a=a, b=b, t=t, u=self.pick(targets), x=x, y=y, i=i)
        assigns = "{a}" in form
        self.later = [(k, n) for k, n in self.later if n == a and assigns and not form.startswith("log")]
        self.assigned()
        return (["box = {}"] if "box" in line else []) + [line] + (["log.append(box)"] if "box" in line else [])

    def spec_statement(self, depth):
        """A random format specification, which the value may refuse."""
        r = self.rng
        spec = self.pick(["", "", "<", ">", "^", "=", "*<", "0>", "x^", "é="]) + self.pick(["", "", "", "+", "-", " "]) + self.pick(["", "", "", "#"]) + self.pick(["", "", "0"])
        spec += self.pick(["", "", str(r.randint(1, 12))]) + self.pick(["", "", "", ",", "_"]) + self.pick(["", "", f".{r.randint(0, 6)}"]) + self.pick(["", "", "d", "f", "e", "g", "x", "b", "o", "%", "s", "n", "c", "X", "G", "E", "F"])
        type = self.pick(["int", "int", "float", "float", "str", "bool"])
        value = self.expression(type, 1)
        return [self.pick([f'log.append(format({value}, "{spec}"))', f'log.append("{{:{spec}}}".format({value}))', f'log.append(f"{{{value}:{spec}}}")'])]

    def closure_statement(self, depth):
        """Functions that are called when their variables have changed."""
        f, n = self.fresh("made"), self.rng.randint(1, 4)
        form = self.pick([
            ["{f} = [lambda: {n}i for {n}i in range({k})]", "log.append([g() for g in {f}])"],
            ["{f} = []", "for {n}i in range({k}):", "    def {n}g(a={n}i):", "        return a, {n}i", "    {f}.append({n}g)", "log.append([g() for g in {f}])"],
            ["def {f}(start={k}):", "    count = start", "    def step(by=1):", "        nonlocal count", "        count += by", "        return count", "    return step, lambda: count",
             "{n}s, {n}r = {f}()", "log.append([{n}s(), {n}s(2), {n}r()])"],
            ["def {f}():", "    before = lambda: after", "    after = {v}", "    return before()", "log.append({f}())"],
            ["def {f}(k):", "    return [lambda x: x * k, lambda x: x + k]", "log.append([g({k}) for g in {f}(2)])"],
            ["def {f}():", "    try:", "        return [late for _ in range({k})]", "    except NameError as err:", "        return str(err)", "    late = 1", "log.append({f}())"],
            ["def {f}():", "    out = []", "    for k in range({k}):", "        out.append(lambda: (k, total))", "    total = {v}", "    return [g() for g in out]", "log.append({f}())"],
        ])
        n2 = self.fresh("n")
        return [line.format(f=f, n=n2, k=n, v=self.expression("int", 1)) for line in form]

    def call_statement(self, depth):
        """A call whose arguments may not fit."""
        f = self.fresh("fun")
        head = self.pick(["", "a", "a, b", "a, b=2", "a, *, k", "a, *, k=1", "*a", "**k", "a, /, b", "a, *more, k=3", "a=1, *, j=2, k=3", "*, k"])
        args = self.pick(["", "1", "1, 2", "1, 2, 3", "a=1", "1, a=2", "1, b=2", "1, k=2", "1, 2, k=3", "1, z=2", "k=1", "*[1, 2]", "**{'k': 1}", "1, **{'a': 2}", "1, 2, 3, k=4", "*[1], **{'z': 1}", "b=1, a=2"])
        return [f"def {f}({head}):", "    return 1", "try:", f"    log.append({f}({args}))", "except TypeError as err:", "    log.append(str(err))"]

    def cause_statement(self, depth):
        e, f = self.pick(["KeyError", "ValueError", "IndexError"]), self.pick(["RuntimeError", "LookupError", "ValueError"])
        s, i = self.expression("str", 1), self.expression("int", 1)
        what = self.pick([f"{{}}[{s}]", f"[][{i}]", f"int({s})", f"1 // ({i})", f"raise {e}({s}, {i})"])
        return ["try:", "    try:", f"        {what}", "    except Exception as err:", f"        raise {f}({s}) from " + self.pick(["err", "err", "None", f"{e}({i})", "err.__cause__"]),
                "except Exception as err:", "    log.append([repr(err), repr(err.__cause__)])"]

    def during_statement(self, depth):
        """A dict that changes while a loop goes over it."""
        if not self.names["map"]:
            return self.assign_statement(depth)
        m, n = self.pick(self.names["map"]), self.fresh("n")
        change = self.pick([f"{m}.pop({n})", f"{m}['new' + {n}] = 1", f"{m}[{n}] = 0", f"{m}.clear()", f"{m}.setdefault('z', 1)", f"{m}.update(q=1)", f"del {m}[{n}]"])
        over = self.pick([f"{n} in {m}", f"{n} in list({m})", f"{n}, v in {m}.items()", f"{n} in {m}.keys()"])
        return ["try:", f"    for {over}:", f"        log.append({n})", f"        {change}", "except (RuntimeError, KeyError) as err:", "    log.append(str(err))"]

    def decorator_statement(self, depth):
        d, f = self.fresh("deco"), self.fresh("fun")
        v, w = self.expression("int", 1), self.expression("int", 1)
        head = self.pick([[f"@{d}(1)"], [f"@{d}(1)", f"@{d}(2)"], [f"@{d}({w})"]])
        return [f"def {d}(n):", "    log.append(n)", "    def wrap(f):", "        def inner(*args, **named):", "            log.append(n)", "            return f(*args, **named)", "        return inner", "    return wrap",
                *head, f"def {f}(a, b=log.append('default')):", "    return a, b", self.pick([f"log.append({f}({v}))", f"log.append({f}(a={v}, b=2))", f"log.append({f}.__name__)"])]

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
