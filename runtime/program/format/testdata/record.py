"""Writes testdata/format.txt, testdata/percent.txt and testdata/repr.txt: what
CPython makes of many values and formats. Run it with CPython 3.11 or later."""
import itertools
import os
import random
import struct

random.seed(20261129)
here = os.path.dirname(os.path.abspath(__file__))

FLOATS = [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, 1e-5, 0.0001, 123456.789, 1234567.0, 1e15, 1e16, 1e17, 1e22, 1e100, 5e-324,
          1.7976931348623157e308, float("inf"), float("-inf"), float("nan"), 0.1, 1 / 3, 99.995, 0.00001234, 100.0, 999999.5]
INTS = [0, 1, -1, 7, 42, -255, 1000, 1234567, -1234567, 10 ** 20, -(10 ** 20), 65, 0x1F600]
TEXTS = ["", "a", "héllo", "日本語", "long text here"]


def specs(types):
    fills = ["", "<", ">", "^", "=", "*<", "0>", "é^", "x="]
    signs = ["", "+", "-", " "]
    alts = ["", "#"]
    zeros = ["", "0"]
    widths = ["", "1", "8", "20"]
    groups = ["", ",", "_"]
    precisions = ["", ".0", ".1", ".3", ".10"]
    everything = list(itertools.product(fills, signs, ["", "", "z"], alts, zeros, widths, groups, precisions, types))
    return ["".join(p) for p in random.sample(everything, 900)] + ["".join(["", "", "", "", "", p, t]) for p in precisions for t in types]


def run(f):
    try:
        return "=" + f()
    except Exception as e:
        return type(e).__name__ + ": " + str(e)


def line(*parts):
    return "\t".join(repr(p) if isinstance(p, str) else p for p in parts)


def main():
    rows = []
    for s in specs(["", "e", "E", "f", "F", "g", "G", "n", "%", "d", "s", "q"]):
        v = random.choice(FLOATS)
        rows.append(("float", struct.pack(">d", v).hex(), s, run(lambda: format(v, s))))
    for s in specs(["", "d", "b", "o", "x", "X", "n", "c", "f", "e", "g", "%", "s", "y"]):
        v = random.choice(INTS)
        rows.append(("int", str(v), s, run(lambda: format(v, s))))
    for s in specs(["", "s", "d", "z"]):
        v = random.choice(TEXTS)
        rows.append(("str", v, s, run(lambda: format(v, s))))
    for _ in range(600):
        v = struct.unpack(">d", struct.pack(">Q", random.getrandbits(64)))[0]
        s = random.choice(["", ".3", ".17g", ".6e", ",.2f", "g", "#.4g", "#", ".0f"])
        rows.append(("float", struct.pack(">d", v).hex(), s, run(lambda: format(v, s))))
        w = random.uniform(-1000, 1000)
        rows.append(("float", struct.pack(">d", w).hex(), s, run(lambda: format(w, s))))
    for s in ["xx", "10q9", ">>>", "5.", ".", ",,", ",_", "_,", "9999999999999999999", "{", "ff", "é", "é<", "é<<", "0<5", "=05d", "<05d"]:
        for v, kind in ((1.5, "float"), (42, "int"), ("ab", "str")):
            shown = struct.pack(">d", v).hex() if kind == "float" else str(v)
            rows.append((kind, shown, s, run(lambda: format(v, s))))
    with open(os.path.join(here, "format.txt"), "w", encoding="utf-8") as f:
        for r in rows:
            f.write("\t".join(r).replace("\n", "\\n") + "\n")
    with open(os.path.join(here, "repr.txt"), "w", encoding="utf-8") as f:
        for v in FLOATS + [random.uniform(-1e18, 1e18) for _ in range(100)] + [10.0 ** n for n in range(-30, 30)] + [
                struct.unpack(">d", struct.pack(">Q", random.getrandbits(64)))[0] for _ in range(200)]:
            f.write(struct.pack(">d", v).hex() + "\t" + repr(v) + "\n")


main()
