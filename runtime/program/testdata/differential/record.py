"""Writes CPython's answer behind each chunk of the .txt files beside it.

A chunk is a program, a line of three dashes, and the answer: the value of its
last expression as JSON, or the name and text of the exception that nothing
caught. Chunks are separated by a line of three equals signs. Run it with
CPython 3.11 or later:
    python3 record.py FILE...
"""
import ast
import json
import sys
import warnings

warnings.simplefilter("ignore")
sys.set_int_max_str_digits(4300)


def plain(v):
    """v as JSON has it; tuples are lists."""
    if isinstance(v, (list, tuple)):
        return [plain(i) for i in v]
    if isinstance(v, dict):
        return {k: plain(i) for k, i in v.items()}
    return v


def answer(source):
    try:
        tree = ast.parse(source)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        names = {"__name__": "__main__"}
        out = []
        names["print"] = lambda *a, sep=" ", end="\n": out.append(sep.join(map(str, a)))
        exec(compile(tree, "program", "exec"), names)
        value = eval(compile(last, "program", "eval"), names) if last else names.get("result")
        return "ok " + json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    except RecursionError:
        return "RecursionError"
    except BaseException as e:
        text = str(e)
        if isinstance(e, SyntaxError):
            return type(e).__name__
        return type(e).__name__ + (": " + text if text else "")


def main():
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as f:
            chunks = f.read().split("===\n")
        out = []
        for chunk in chunks:
            source = chunk.split("---\n")[0]
            out.append(source + "---\n" + answer(source) + "\n")
        with open(name, "w", encoding="utf-8") as f:
            f.write("===\n".join(out))


if __name__ == "__main__":
    main()
