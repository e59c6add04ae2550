"""Writes CPython's own reading of each chunk of the .txt files beside it.

A chunk is source, a line of three dashes, and what the test compares: the tree
in the form of dump_test.go, or the kind of error. Chunks are separated by a
line of three equals signs. Run it with CPython 3.11 or later:
    python3 record.py FILE...
"""
import ast
import struct
import sys


def quoted(s):
    out = ['"']
    short = {7: "a", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t", 11: "v", 92: "\\", 34: '"'}
    for ch in s:
        n = ord(ch)
        if n in short:
            out.append("\\" + short[n])
        elif 32 <= n < 127:
            out.append(ch)
        elif n < 128:
            out.append("\\x%02x" % n)
        elif n < 65536:
            out.append("\\u%04x" % n)
        else:
            out.append("\\U%08x" % n)
    return "".join(out) + '"'


def lst(items, f):
    return "[" + ", ".join(f(i) for i in items) + "]"


def node(name, *parts):
    return name + "(" + ", ".join(p for p in parts if not p.endswith("=")) + ")"


def body(b):
    return lst(b, stmt)


OPS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "LShift": "<<",
       "RShift": ">>", "BitOr": "|", "BitXor": "^", "BitAnd": "&", "MatMult": "@", "And": "and", "Or": "or",
       "Not": "not", "USub": "-", "UAdd": "+", "Invert": "~", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
       "Eq": "==", "NotEq": "!=", "In": "in", "NotIn": "not in", "Is": "is", "IsNot": "is not"}


def op(o):
    return OPS[type(o).__name__]


def params(a):
    ordinary = a.posonlyargs + a.args
    defaults = [None] * (len(ordinary) - len(a.defaults)) + a.defaults

    def one(p, d=None):
        if p is None:
            return ""
        s = p.arg
        if p.annotation is not None:
            s += ": " + expr(p.annotation)
        if d is not None:
            s += " = " + expr(d)
        return s
    pairs = list(zip(ordinary, defaults))
    n = len(a.posonlyargs)
    return node("arguments", "posonlyargs=" + lst(pairs[:n], lambda p: one(*p)), "args=" + lst(pairs[n:], lambda p: one(*p)),
                "vararg=" + one(a.vararg), "kwonlyargs=" + lst(list(zip(a.kwonlyargs, a.kw_defaults)), lambda p: one(*p)),
                "kwarg=" + one(a.kwarg))


def stmt(s):
    n = type(s).__name__
    if n in ("FunctionDef", "AsyncFunctionDef"):
        return node(n, "name=" + s.name, "args=" + params(s.args), "body=" + body(s.body),
                    "decorators=" + lst(s.decorator_list, expr), "returns=" + expr(s.returns))
    if n == "Return":
        return node(n, "value=" + expr(s.value))
    if n == "Delete":
        flat = []

        def walk(t):
            if isinstance(t, (ast.Tuple, ast.List)):
                for e in t.elts:
                    walk(e)
            else:
                flat.append(t)
        for t in s.targets:
            walk(t)
        return node(n, "targets=" + lst(flat, expr))
    if n == "Assign":
        return node(n, "targets=" + lst(s.targets, expr), "value=" + expr(s.value))
    if n == "AugAssign":
        return node(n, "target=" + expr(s.target), "op=" + op(s.op), "value=" + expr(s.value))
    if n == "AnnAssign":
        return node(n, "target=" + expr(s.target), "annotation=" + expr(s.annotation), "value=" + expr(s.value))
    if n in ("For", "AsyncFor"):
        return node(n, "target=" + expr(s.target), "iter=" + expr(s.iter), "body=" + body(s.body), "orelse=" + body(s.orelse))
    if n in ("While", "If"):
        return node(n, "test=" + expr(s.test), "body=" + body(s.body), "orelse=" + body(s.orelse))
    if n == "Raise":
        return node(n, "exc=" + expr(s.exc), "cause=" + expr(s.cause))
    if n == "Try":
        h = lst(s.handlers, lambda h: node("ExceptHandler", "type=" + expr(h.type), "name=" + (h.name or ""), "body=" + body(h.body)))
        return node(n, "body=" + body(s.body), "handlers=" + h, "orelse=" + body(s.orelse), "finalbody=" + body(s.finalbody))
    if n == "Assert":
        return node(n, "test=" + expr(s.test), "msg=" + expr(s.msg))
    if n in ("Import", "ImportFrom"):
        names = lst(s.names, lambda a: a.name + (" as " + a.asname if a.asname else ""))
        if n == "ImportFrom":
            return node(n, "module=" + s.module, "names=" + names)
        return node(n, "names=" + names)
    if n in ("Global", "Nonlocal"):
        return node(n, "names=" + lst(s.names, str))
    if n == "Expr":
        return node(n, "value=" + expr(s.value))
    return n + "()"


def clause(c):
    return node("comprehension", expr(c.target), expr(c.iter), lst(c.ifs, expr), "true" if c.is_async else "false")


def expr(e):
    if e is None:
        return ""
    n = type(e).__name__
    if n == "BoolOp":
        return node(n, op(e.op), lst(e.values, expr))
    if n == "NamedExpr":
        return node(n, expr(e.target), expr(e.value))
    if n == "BinOp":
        return node(n, expr(e.left), op(e.op), expr(e.right))
    if n == "UnaryOp":
        return node(n, op(e.op), expr(e.operand))
    if n == "Lambda":
        return node(n, params(e.args), expr(e.body))
    if n == "IfExp":
        return node(n, expr(e.test), expr(e.body), expr(e.orelse))
    if n == "Dict":
        return node(n, lst(e.keys, lambda k: "None" if k is None else expr(k)), lst(e.values, expr))
    if n in ("Set", "List", "Tuple"):
        return node(n, lst(e.elts, expr))
    if n in ("ListComp", "SetComp", "GeneratorExp"):
        return node(n, expr(e.elt), lst(e.generators, clause))
    if n == "DictComp":
        return node(n, "key=" + expr(e.key), expr(e.value), lst(e.generators, clause))
    if n == "Await":
        return node(n, expr(e.value))
    if n == "Compare":
        return node(n, expr(e.left), "[" + ", ".join(op(o) + " " + expr(c) for o, c in zip(e.ops, e.comparators)) + "]")
    if n == "Call":
        items = []
        for a in e.args:
            if isinstance(a, ast.Starred):
                items.append((a.lineno, a.col_offset, "*" + expr(a.value)))
            else:
                items.append((a.lineno, a.col_offset, expr(a)))
        for k in e.keywords:
            items.append((k.lineno, k.col_offset, ("**" if k.arg is None else k.arg + "=") + expr(k.value)))
        items.sort(key=lambda i: i[:2])
        return node(n, expr(e.func), "[" + ", ".join(i[2] for i in items) + "]")
    if n == "Attribute":
        return node(n, expr(e.value), e.attr)
    if n == "Subscript":
        return node(n, expr(e.value), expr(e.slice))
    if n == "Slice":
        return node(n, "lower=" + expr(e.lower), "upper=" + expr(e.upper), "step=" + expr(e.step))
    if n == "Starred":
        return node(n, expr(e.value))
    if n == "Name":
        return e.id
    if n == "JoinedStr":
        return node(n, "[" + ", ".join(expr(v) for v in e.values) + "]")
    if n == "FormattedValue":
        return node(n, expr(e.value), "conversion=" + ("" if e.conversion == -1 else chr(e.conversion)), "format=" + expr(e.format_spec))
    v = e.value
    if isinstance(v, str):
        return quoted(v)
    if v is Ellipsis:
        return "Ellipsis"
    if isinstance(v, float):
        return "float " + struct.pack(">d", v).hex()
    return repr(v)


def read(source):
    try:
        tree = ast.parse(source)
        compile(source, "<chunk>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, RecursionError, ValueError, MemoryError) as e:
        return type(e).__name__ + "\n"
    return "".join(stmt(s) + "\n" for s in tree.body)


def main():
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as f:
            chunks = f.read().split("===\n")
        out = []
        for chunk in chunks:
            source = chunk.split("---\n")[0]
            out.append(source + "---\n" + read(source))
        with open(name, "w", encoding="utf-8") as f:
            f.write("===\n".join(out))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        sys.stdout.write(read(open(sys.argv[2], encoding="utf-8").read()))
    else:
        main()
