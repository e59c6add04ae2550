"""Counts the constructs of programs, for generate.py."""
import ast
import collections
import re

NODES = {
    ast.JoinedStr: "f-string", ast.GeneratorExp: "generator expression", ast.ListComp: "list comprehension", ast.SetComp: "set comprehension",
    ast.DictComp: "dict comprehension", ast.NamedExpr: "walrus", ast.Set: "set display", ast.Delete: "del", ast.Assert: "assert", ast.Raise: "raise",
    ast.Lambda: "lambda", ast.AnnAssign: "annotated assignment", ast.AsyncFunctionDef: "async def", ast.Await: "await", ast.Global: "global",
    ast.Nonlocal: "nonlocal", ast.IfExp: "conditional expression", ast.AugAssign: "augmented assignment", ast.Break: "break", ast.Continue: "continue",
    ast.Return: "return", ast.If: "if", ast.Import: "import", ast.FunctionDef: "def", ast.BoolOp: "and, or",
}
METHODS = {
    "int": "as_integer_ratio bit_count bit_length",
    "float": "is_integer",
    "str": "capitalize casefold center count endswith expandtabs find format index isalnum isalpha isdecimal isdigit isidentifier islower isnumeric isspace istitle isupper join ljust lower lstrip partition removeprefix removesuffix replace rjust rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill",
    "list": "append clear copy extend insert pop remove reverse sort",
    "dict": "fromkeys get items keys popitem setdefault update values",
    "set": "add difference difference_update discard intersection intersection_update isdisjoint issubset symmetric_difference symmetric_difference_update union",
}
BUILTINS = "abs all any ascii bin bool callable chr dict divmod enumerate filter float format frozenset hasattr hash hex int isinstance iter len list map max min next ord pow print range repr reversed round set slice sorted str sum tuple type zip".split()


def named(tree):
    """The names of all constructs in tree, once each."""
    for n in ast.walk(tree):
        if type(n) in NODES:
            yield NODES[type(n)]
        match n:
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod()):
                yield "% format"
            case ast.BinOp(op=ast.Pow()):
                yield "**"
            case ast.BinOp(op=ast.FloorDiv() | ast.Mod()):
                yield "// and %"
            case ast.BinOp(op=ast.BitOr() | ast.BitAnd() | ast.BitXor() | ast.LShift() | ast.RShift()):
                yield "bits and sets"
            case ast.Compare(ops=[_, _, *_]):
                yield "chained comparison"
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
                yield "is"
            case ast.Compare(ops=[ast.In() | ast.NotIn()]):
                yield "in"
            case ast.Try():
                yield "try"
                if n.finalbody:
                    yield "finally"
                if n.orelse:
                    yield "try/else"
                for h in n.handlers:
                    yield "except"
                    if isinstance(h.type, ast.Tuple):
                        yield "except of several"
                    if h.name:
                        yield "except as"
                    if any(isinstance(i, ast.Raise) and i.exc is None for i in ast.walk(h)):
                        yield "bare raise"
                if any(isinstance(i, (ast.Return, ast.Break, ast.Continue)) for i in ast.walk(n)):
                    yield "return, break, continue in try"
                if any(isinstance(i, ast.Try) for s in n.body for i in ast.walk(s)):
                    yield "nested try"
            case ast.For() | ast.While():
                yield "while" if isinstance(n, ast.While) else "for"
                if n.orelse:
                    yield "while/else" if isinstance(n, ast.While) else "for/else"
                if isinstance(n, ast.For) and isinstance(n.target, (ast.Subscript, ast.Attribute)):
                    yield "loop over a subscript target"
            case ast.comprehension(target=ast.Subscript()):
                yield "comprehension with a subscript target"
            case ast.Slice():
                yield "slice"
            case ast.Subscript(slice=ast.Slice(), ctx=ast.Store() | ast.Del()):
                yield "slice assignment"
            case ast.Tuple(ctx=ast.Store(), elts=items):
                yield "unpacking"
                if any(isinstance(i, ast.Subscript) for i in items):
                    yield "mixed targets"
            case ast.Raise(cause=cause) if cause:
                yield "raise from"
            case ast.FunctionDef(decorator_list=[_, *_]):
                yield "decorator"
            case ast.Starred(ctx=ast.Store()):
                yield "starred target"
            case ast.Dict(keys=keys) if None in keys:
                yield "{**d}"
            case ast.List(elts=items) | ast.Set(elts=items) if any(isinstance(i, ast.Starred) for i in items):
                yield "[*l]"
            case ast.Call(func=ast.Attribute(attr=name)):
                for of, names in METHODS.items():
                    if name in names.split():
                        yield f"{of}.{name}"
                if isinstance(n.func.value, ast.Name) and n.func.value.id in ("json", "math", "asyncio"):
                    yield f"{n.func.value.id}.{name}"
                if any(isinstance(a, ast.Starred) for a in n.args):
                    yield "f(*l)"
            case ast.Call(func=ast.Name(id=name)):
                if name in BUILTINS:
                    yield f"{name}()"
                if name == "iter" and len(n.args) == 2:
                    yield "iter(f, last)"
                if any(isinstance(a, ast.Starred) for a in n.args):
                    yield "f(*l)"
                if any(k.arg is None for k in n.keywords):
                    yield "f(**d)"
            case ast.arguments():
                if n.defaults:
                    yield "default argument"
                if n.kwonlyargs:
                    yield "keyword-only argument"
                if n.vararg:
                    yield "*args"
                if n.kwarg:
                    yield "**kwargs"


class Counter:
    def __init__(self):
        self.programs = 0
        self.counts = collections.Counter()

    def add(self, source, answer):
        self.programs += 1
        found = set(named(ast.parse(source)))
        if re.search(r'" "\w*"|" f"', source):
            found.add("adjacent strings")
        if "__main__" in source:
            found.add("name guard")
        found.add("a value" if answer.startswith("ok ") else "an exception that nothing catches")
        self.counts.update(found)

    def print(self):
        for name, n in sorted(self.counts.items(), key=lambda i: (i[1], i[0])):
            print(f"{n:7} {name}")
        print(f"{self.programs:7} programs")
