"""Writes testdata/text.txt: what CPython's str methods answer. Each row is the
method, the receiver, arguments and the answer as JSON. Run it with CPython
3.11 or later."""
import itertools
import json
import os
import random

random.seed(20261129)
here = os.path.dirname(os.path.abspath(__file__))
RECEIVERS = ["", "a", "abc", "Hello World", "hello world", "HELLO", "  pad  ", "\t tab\n", "naïve café", "日本語テキスト", "a,b,,c", ",,",
             "a  b   c ", "line1\nline2\r\nline3\rline4\x0bline5\u2028x", "-42", "+7", "123", "１２３", "½²③", "ß straße", "ΑΣ ΣΑΣ. ὈΔΥΣΣΕΎΣ",
             "İstanbul", "ﬁne ﬀ", "it's o'clock", "x_1", "1x", "\x1fa\x85b\u3000c", "😀a😀b", "\ttab\tx\n\ty", "aaaa", "abababab", "ǅungla ǆ", "e\u0301te\u0301",
             "Title Case Text", "title Case", "A1b2", "\u00a0nbsp\u00a0", "quote'\"both", "back\\slash", "\x00\x7f\u200b\U000e0001", "ŉ ǰ ΐ", "…dots", "ª º ⅷ Ⅷ ⓐ"]
SUBS = ["", "a", "b", "ab", " ", ",", "\n", "é", "本", "😀", "Σ", "aa", "lo", "xyz"]
OFFSETS = [None, 0, 1, 2, -1, -2, 5, 100, -100]
rows = []


def add(method, receiver, *args):
    try:
        answer = getattr(receiver, method)(*args)
    except Exception as e:
        return
    if isinstance(answer, tuple):
        answer = list(answer)
    rows.append([method, receiver, list(args), answer])


for r in RECEIVERS:
    for m in ["upper", "lower", "title", "capitalize", "swapcase", "casefold", "isalpha", "isdecimal", "isdigit", "isnumeric", "isalnum", "isspace", "isascii",
              "islower", "isupper", "istitle", "isidentifier", "isprintable", "split", "rsplit", "strip", "lstrip", "rstrip", "expandtabs", "__len__", "__repr__"]:
        add(m, r)
    for keep in (True, False):
        add("splitlines", r, keep)
    for s in SUBS:
        if s:
            for most in (-1, 0, 1, 2):
                add("split", r, s, most)
                add("rsplit", r, s, most)
            add("partition", r, s)
            add("rpartition", r, s)
            add("strip", r, s)
            add("lstrip", r, s)
            add("rstrip", r, s)
        for n in (-1, 0, 1, 2):
            add("replace", r, s, "<é>", n)
        for _ in range(6):
            args = [random.choice(OFFSETS), random.choice(OFFSETS)]
            for m in ["find", "rfind", "count", "startswith", "endswith"]:
                add(m, r, s, *args)
    for most in (0, 1, 2):
        add("split", r, None, most)
        add("rsplit", r, None, most)
    for w in (0, 1, 5, 8, 13):
        for m in ["center", "ljust", "rjust"]:
            add(m, r, w, "*")
            add(m, r, w, "é")
        add("zfill", r, w)
        add("expandtabs", r, w)
    for i in range(-4, 5):
        add("__getitem__", r, i)
    for _ in range(12):
        low, high, step = random.choice(OFFSETS), random.choice(OFFSETS), random.choice([None, 1, 2, -1, -2])
        rows.append(["slice", r, [low, high, step], r[low:high:step]])
with open(os.path.join(here, "text.txt"), "w", encoding="utf-8") as f:
    for row in random.sample(rows, 4000) + [r for r in rows if not r[2]]:
        f.write(json.dumps(row) + "\n")
