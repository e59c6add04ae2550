"""Random expressions of a type, for generate.py."""

TYPES = ["int", "int", "int", "float", "str", "str", "bool", "ints", "ints", "strs", "map", "set"]
WORDS = ["a", "b", "ab", "héllo", "", "x y", "Zed", "1,2", "日本", "it's", "A", " pad ", "42", "-7", "a-b-c", "ünï", "foo bar", "\\n", "%", "{}"]


class Expressions:
    def __init__(self, rng):
        self.rng = rng
        self.names = {t: [] for t in ("int", "float", "str", "bool", "ints", "strs", "map", "set")}
        self.later = []
        self.functions = []
        self.modules = False
        self.bound = 0
        self.strict = 0  # forms around whose order a wrong type would tell

    def pick(self, items):
        return items[self.rng.randrange(len(items))]

    def chance(self, p):
        return self.rng.random() < p

    def type(self):
        return self.pick(TYPES)

    def annotation(self, type):
        return {"ints": "list[int]", "strs": "list[str]", "map": "dict[str, int]", "set": "set[int]"}.get(type, type)

    def literal(self, type):
        r = self.rng
        if type == "int":
            return str(self.pick([r.randint(-3, 6), r.randint(-3, 6), r.randint(-50, 150), r.randint(-10**6, 10**6), 10**18 + r.randint(0, 9), 2**64]))
        if type == "float":
            return self.pick([str(r.randint(-40, 40) / 4), str(r.randint(-40, 40) / 4), str(r.randint(-100, 100) / 10), "1e16", "1e-07", "0.1", "-0.0", "123456.789", "2.5", "1e300"])
        if type == "str":
            w = self.pick(WORDS)
            return self.pick([f'"{w}"', f'"{w}"', f'"{w}" "{self.pick(WORDS)}"', f'r"{w}"'])
        if type == "bool":
            return self.pick(["True", "False"])
        if type == "ints":
            return "[" + ", ".join(str(r.randint(-5, 9)) for _ in range(r.randint(0, 5))) + "]"
        if type == "strs":
            return "[" + ", ".join(f'"{self.pick(WORDS)}"' for _ in range(r.randint(0, 4))) + "]"
        if type == "map":
            return "{" + ", ".join(f'"{w}": {r.randint(-5, 20)}' for w in r.sample(WORDS, r.randint(0, 4))) + "}"
        n = r.randint(0, 4)
        return "{" + ", ".join(str(r.randint(-3, 9)) for _ in range(n)) + "}" if n else "set()"

    def expression(self, type, depth):
        if self.chance(0.012) and not self.strict and type != "set":
            # Now and then of the wrong one. Bools among keys and the order of sets
            # are known to differ.
            type = self.pick(["int", "float", "str", "ints", "strs", "map"])
        if depth > 0 and self.chance(0.12):
            calls = [f for f in self.functions if f[2] == type]
            if calls:
                return self.call(self.pick(calls))
        if depth <= 0 or self.chance(0.18):
            known = self.names[type]
            if known and self.chance(0.75):
                return self.pick(known)
            text = self.literal(type)
            return f"({text})" if text[0] == "-" or '" "' in text else text
        if self.chance(0.05):
            return f"({self.expression(type, depth - 1)} if {self.expression('bool', depth - 1)} else {self.expression(type, depth - 1)})"
        if self.chance(0.03):
            return f"({self.expression(type, depth - 1)} {self.pick(['and', 'or'])} {self.expression(type, depth - 1)})"
        form = self.pick(FORMS[type] + (MODULE_FORMS.get(type, []) if self.modules else []))
        ordered = type == "set"
        self.strict += ordered
        out = self.fill(form, depth - 1)
        self.strict -= ordered
        return out

    def fill(self, form, depth):
        """form with its letters in braces replaced by expressions of that type; N is a new name."""
        out, i, new = [], 0, None
        if "«N»" in form:
            self.bound += 1
            new = f"o{self.bound}"
        while i < len(form):
            if form[i] == "«":
                j = form.index("»", i)
                what = form[i + 1:j]
                i = j + 1
                if what == "N":
                    out.append(new)
                    continue
                if what.startswith("?"):  # one of several
                    out.append(self.pick(what[1:].split("|")))
                elif what.startswith("#"):  # a number
                    low, high = what[1:].split("..")
                    out.append(str(self.rng.randint(int(low), int(high))))
                elif what.startswith("+"):  # with the new name known
                    type, kind = what[1:].split("/")
                    self.names[kind].append(new)
                    out.append(self.expression(type, depth))
                    self.names[kind].remove(new)
                else:
                    out.append(self.expression(what, depth))
                continue
            out.append(form[i])
            i += 1
        return "".join(out)

    def call(self, function):
        name, types, _, extra = function
        args = [self.expression(t, 1) for t in types]
        if args and self.chance(0.1):
            args[-1] = f"*[{args[-1]}]"
        if self.chance(0.03):
            args = args[:-1]
        if "more" in extra and self.chance(0.5):
            args += ["1", "*[2, 3]"]
        if "key=" in extra and self.chance(0.5):
            args.append("key=5")
        if "option" in extra and self.chance(0.5):
            args.append(self.pick(["option=4", "4"]) if "*" not in "".join(args) else "option=4")
        if "named" in extra and self.chance(0.9):
            args += self.pick([["z=1"], ["**{'w': 2}"], ["z=1", "**{'w': 2}"]])
        return f"{name}({', '.join(args)})"


FORMS = {
    "int": [
        "(«int» «?+|-|*|//|%» «int»)", "(«int» «?+|-|*» «int»)", "(«int» % «#1..97»)", "(«int» «?&|^» «int»)", "(«int» | «int»)", "(«int» >> «#0..4»)", "(«int» << «#0..4»)",
        "-«int»", "~«int»", "«#-3..5» ** «#0..4»", "(«int» % 50) ** 2", "len(«str»)", "len(«ints»)", "len(«map»)", "len(«set»)", "sum(«ints»)", "sum(«ints», «int»)",
        "max(«ints»)", "min(«ints», default=«int»)", "max(«int», «int»)", "min(«ints», key=lambda «N»: «+int/int»)", "abs(«int»)", "int(«float» % 100)", "int(«bool»)",
        "int(«str»)", "round(«float» % 1000)", "round(«int», «#-3..1»)", "«ints»[«int»]", "«ints»[«#-2..2»]", "«map»[«str»]", "«map».get(«str», «int»)", "«map».get(\"a\", 0)",
        "«str».find(«str»)", "«str».count(«str»)", "«str».index(«str»)", "«ints».count(«int»)", "«ints».index(«int»)", "sum(«N» * 2 for «N» in «ints» if «+bool/int»)",
        "sum(1 for «N» in «str» if «N» in \"aeiou\")", "(lambda «N»: «+int/int»)(«int»)", "(«N» := «int»)", "divmod(«int», «int»)[0]", "pow(«int», «#0..3», «#2..9»)",
        "ord(«str»[:1])", "next((«N» for «N» in «ints» if «+bool/int»), «int»)", "next(iter(«ints»))", "True + «int»", "(«bool» + «bool»)",
        "max(«map».values())", "sum(«map».values())", "len(«str».split())", "(«int», «int»)[«bool»]", "[*«ints», «int»][-1]", "int(\"«#0..9»«#0..9»\", «#8..16»)",
        "len(list(zip(«ints», «str»)))", "len({«int», «int»})", "len([*«str», *«ints»])", "(«int» if «int» is not None else 0)", "len(dict(zip(«strs», «ints»)))",
        "max(«strs», key=len).count(\"a\")", "min((abs(«N» - 2), «N») for «N» in «ints»)[1]", "range(«#0..5», «#5..20», «#1..4»)[«#0..1»]", "sorted(«ints»)[0]",
        "len(frozenset(«ints»))", "sum(frozenset(«ints») & «set»)", "{frozenset([1]): «int»}[frozenset([«int»])]", "«int».bit_length()", "(«int» % 999).bit_count()", "«int».real", "«int».as_integer_ratio()[0]", "range(«#0..5», «#5..20», «#1..4»).index(«int» % 20)",
        "range(«#0..9»).count(«int»)", "«ints»[slice(«#0..2», «#1..4»)][0]", "len(«str»[slice(None, None, «#-2..2»)])", "sum(iter(«ints»[:].pop, «#0..3»))", "len(range(«#-5..9»)[«#-3..5»:«#-3..5»])", "round(«int», -2)", "«str».rfind(«str»)", "«str».rindex(«str»)",
        "len(f\"{«int»:«?>|<|^»«#1..9»}\")", "sum(map(abs, «ints»))", "sum(map(lambda «N»: «+int/int», «ints»))", "(«ints» or [7])[0]", "sum(range(«#0..9»))",
    ],
    "float": [
        "(«float» «?+|-|*|/» «float»)", "(«float» «?//|%» «float»)", "(«int» / «#1..9»)", "float(«int» % 1000)", "-«float»", "abs(«float»)", "round(«float», «#0..3»)", "float(«?\"1.5\"|\" 2e3 \"|\"-0\"|\"x\"|\"1_0\"»)",
        "max(«float», «float»)", "sum([«float», «float»])", "(«float» + «int» % 1000)", "float(\"«#0..99».«#0..999»\")", "(«int» % 20) / 4", "divmod(«float», «float»)[1]", "min(«float», «int»)",
        "(«float» if «bool» else «float»)", "round(«float» * 100, -«#1..3»)", "«float».real", "(«float» % 1000).as_integer_ratio()[0] / 2", "float(str(«float»))", "sum(«N» / 2 for «N» in «ints»)", "(«float» % 7) ** 2", "int(«float» % 10) / 3", "(«int» % 100) * 0.1", "2 ** -«#0..5»", "float(«bool»)",
    ],
    "str": [
        "(«str» + «str»)", "(«str» * «#0..3»)", "«str»[«#-3..3»:«#-3..5»]", "«str»[::-1]", "«str»[«#-1..1»:]", "«str»[«int»]", "«str».«?upper|lower|title|capitalize|swapcase»()", "«str».«?strip|lstrip|rstrip|casefold»()", "«str».strip(«?|\" a\"»)", "«str».«?lower|swapcase|lstrip|rstrip|casefold|capitalize»()",
        "«str».replace(«str», «str»)", "«str».replace(\"a\", «str», 1)", "«str».«?center|ljust|rjust»(«#0..9»«?|, \"*\"»)", "«str».zfill(«#0..7»)", "«str».join(«strs»)", "\"-\".join(str(«N») for «N» in «ints»)",
        "str(«int»)", "str(«float»)", "str(«bool»)", "str(«ints»)", "repr(«str»)", "repr(«strs»)", "str(«map»)", "repr(«float»)", "f\"{«int»}\"", "f\"{«str»!r:>«#0..9»}|{«int»:«?+d|05d|x|,|_|b|o|#x| d|^8|*>7|c»}\"",
        "f\"{«float»:«?.2f|.0f|e|g|.3g|10.1f|+.1f|%|08.2f|,.2f|»}\"", "f\"{«str»:«?<|>|^»{«#0..9»}}\"", "f\"{«int»=} {«bool»!s}\"", "f\"{«ints»} { «map» }\"", "\"%«?s|r|5s|-4s|.1s» %«?d|03d|x|+d|5d»\" % («str», «int»)",
        "\"%«?.2f|g|e|5.1f|d»%%\" % «float»", "\"%(a)s:%(b)d\" % {\"a\": «str», \"b\": «int»}", "\"{} {«?:>5|!r|:<4|»}\".format(«int», «str»)", "\"{0}{1}{0}\".format(«str», «int»)", "\"{x:«?.1f|e|g»}\".format(x=«float»)",
        "\"%s\" % «ints»", "\"%s\" % (tuple(«ints»),)", "«strs»[«int»]", "«strs»[«#-1..1»]", "min(«strs», default=«str»)", "max(«str», «str»)", "«str».partition(«str»)[«#0..2»]", "«str».split(«?|\",\"|\"-\"|\" \"|None, 1»)[0]", "«str».rsplit(«?\"-\"|\" \"», 1)[-1]",
        "chr(97 + «int» % 26)", "hex(«int»)", "bin(«int» % 100)", "format(«int», \"«?d|x|,|>6|08b|e»\")", "format(«float», \"«?.1f|g|>9|.3e»\")", "(«str» or «str»)", "type(«int»).__name__", "type(«str»).__name__",
        "«str».removeprefix(«str»)", "«str».removesuffix(\"c\")", "«str».translate(str.maketrans(\"ab\", \"xy\"))", "«str».expandtabs(4)", "next(iter(«strs»), «str»)", "\"\".join(reversed(«str»))", "\"\".join(sorted(«str»))",
        "(lambda «N», o=«int»: «+str/str» + str(o))(«str»)", "sorted(«strs», key=lambda «N»: (len(«N»), «N»))[0]", "(\"lit\" f\"{«int»}\" \"end\")", "ascii(«str»)",
        "repr(range(«#0..9»)[«#-3..5»:«#-3..9»:«#1..3»])", "repr(slice(«int», None))", "str(int | str)", "type(frozenset(«ints») | «set»).__name__", "str(«str».encode(), \"utf-8\")", "repr(«str».rpartition(«str»))", "\"%«?5%|s%%|z|%|-3d|+.2f» %s\" % («int», «str»)",
        "str((«int», «str»))", "str([«bool», None])", "repr({«str»: («int»,)})", "str(list(«map».items()))", "str(«map».keys())", "repr([«float», «int»])",
    ],
    "bool": [
        "(«int» «?<|<=|>|>=|==|!=» «int»)", "(«float» «?<|<=|>|>=|==|!=» «float»)", "(«str» «?<|>|==|!=» «str»)", "(«ints» «?<|==|!=|>=» «ints»)", "(«int» < «int» «?<|<=|!=» «int»)", "(«int» «?in|not in» «ints»)",
        "(«str» «?in|not in» «str»)", "(«str» in «map»)", "(«int» in «set»)", "not «bool»", "(«bool» «?and|or|==|!=|&|^» «bool»)", "(«bool» | «bool»)", "isinstance(«int», «?int|str|(int, str)|bool|float»)", "any(«N» > «int» for «N» in «ints»)",
        "all(«N» «?>|<» «int» for «N» in «ints»)", "bool(«ints»)", "bool(«str»)", "«str».«?isdigit|isalpha|isupper|islower|isspace»()", "«str».«?isalnum|isnumeric|istitle|isidentifier|isdecimal»()", "«str».«?islower|istitle|isspace|isalnum|isdecimal»()", "«str».«?isnumeric|isupper|isidentifier|isspace»()", "«str».startswith(«str»)", "«str».endswith((«str», \"b\"))",
        "(«int» is None)", "(«map».get(«str») is not None)", "(«set» «?<=|<|==|>» «set»)", "«set».issubset(«ints»)", "«set».isdisjoint(«set»)", "(«map» == «map»)", "(«int» == «float»)", "((«int», «str») < («int», «str»))", "callable(«?len|1|str»)",
        "isinstance(«int», int | str)", "isinstance(«str», «?int | float|str | None|list | int | str»)", "(frozenset(«ints») «?==|<=|<|!=» «set»)", "(«int» in frozenset(«ints»))", "(«ints» in [«ints», «ints»])", "«float».is_integer()",
        "(«strs» == «strs»[::-1])", "any(«strs»)", "all(«strs»)", "(None is None is not «bool»)", "(«int» «?==|!=|>» «int» == «int»)", "(type(«int») is int)", "hasattr(«str», \"«?upper|nope»\")", "(«bool» is «bool»)",
    ],
    "ints": [
        "[«N» «?*|+|-» 2 for «N» in «ints»]", "[«+int/int» for «N» in range(«#0..4»)]", "[«N» for «N» in «ints» if «+bool/int»]", "[len(«N») for «N» in «strs»]", "«ints»[«#-4..4»:«#-4..6»]", "«ints»[::«?-1|2|-2|3»]",
        "sorted(«ints»«?|, reverse=True|, key=lambda o: -o|, key=str|, key=abs»)", "list(reversed(«ints»))", "list(range(«#-3..3», «#0..8», «#1..3»))", "list(range(«#3..8», «#-3..2», -«#1..3»))", "(«ints» + «ints»)", "(«ints» * «#0..2»)", "[«int», «int»]", "[*«ints», «int»]", "list(«set» and [1])",
        "list(map(int, [«float» % 9, «str».count(\"a\")]))", "list(map(lambda «N»: «+int/int», «ints»))", "list(filter(lambda «N»: «+bool/int», «ints»))", "list(filter(None, «ints»))", "[«N» for «N», _ in zip(«ints», «str»)]", "sorted(«set»)",
        "[(last := «int»), «int»]", "[a * a2 for a in «ints»[:3] for a2 in «ints»[:2] if a != a2]", "[a for a, *b in [(«int», 1, 2), («int»,)]]", "list(«map».values())", "list(dict.fromkeys(«ints»))", "sorted(set(«ints»))", "[i for i, c in enumerate(«str») if c.isalpha()]",
        "[x for y in [«ints», «ints»] for x in y]", "«ints».copy()", "list(divmod(«int», «#1..9»))", "[min(a) for a in [«ints», [1]]]", "[int(c) for c in «str» if c.isdigit()]", "[ord(c) for c in «str»[:3]]", "list(tuple(«ints»))", "[abs(a) for a in «ints»][::-1]", "[*range(«#0..4»)]",
        "list(enumerate(«ints»))[:1] and [1]", "[a if a % 2 else -a for a in «ints»]", "[(lambda: a)() for a in «ints»]", "[f() for f in [lambda a=a: a * 2 for a in «ints»[:3]]]", "list(a ** 2 for a in «ints»[:4])",
    ],
    "strs": [
        "«str».split(«?|\",\"|\"-\"|None|\" \", 1|\"a\"»)", "[«+str/str» for «N» in «strs»]", "[«N».upper() for «N» in «strs» if «N»]", "[str(«N») for «N» in «ints»]", "sorted(«strs»«?|, key=len|, key=str.lower|, reverse=True»)", "list(«str»)", "«str».splitlines()", "[«str», «str»]",
        "«strs»[::-1]", "«strs»[«#0..2»:]", "(«strs» + «strs»)", "list(«map»)", "list(«map».keys())", "sorted(«map», key=«map».get)", "[f\"{a}{b}\" for a, b in «map».items()]", "list(map(str, «ints»))", "list(map(str.strip, «strs»))", "[*«strs», «str»]", "[a for a, b in zip(«str», «ints»)]",
        "list(«str».partition(«?\"-\"|\" \"|\"a\"»))", "[str(a) for a in «map».items()]", "[w.title() for w in «str».split()]", "sorted(«map», reverse=True)", "list(filter(str.isalpha, «strs»))", "[repr(a) for a in [«int», «float», «str», None, «bool»]]", "[type(a).__name__ for a in («int», «str», «ints»)]",
        "[\"\".join(a) for a in zip(«str», «str»)]", "sorted({*«strs»})", "[k for k, v in sorted(«map».items(), key=lambda kv: (-kv[1], kv[0]))]",
    ],
    "map": [
        "{«N»: len(«N») for «N» in «strs»}", "{str(«N»): «+int/int» for «N» in «ints»}", "{**«map», «str»: «int»}", "{**«map», **«map»}", "dict(zip(«strs», «ints»))", "{k: v for k, v in «map».items() if v > «int»}", "(«map» | «map»)", "dict(«map»)", "dict(«map», z=«int»)", "{«str»: «int», \"k\": «int»}",
        "dict(sorted(«map».items()))", "«map».copy()", "dict.fromkeys(«strs», «int»)", "{k: v * 2 for k, v in «map».items()}", "dict([(«str», «int»)])", "{c: «str».count(c) for c in «str»}", "dict(a=«int», b=«int»)", "{v: i for i, v in enumerate(«strs»)}", "dict(reversed(list(«map».items())))",
    ],
    "set": [
        "(«set» «?&|-|^» frozenset(«ints»))", "set(frozenset(«ints») | «set»)", "(«set» «?&|-|^» «set»)", "(«set» | «set»)", "set(«ints»)", "{«N» % 5 for «N» in «ints»}", "{«int», «int»}", "«set».union(«ints»)", "«set».intersection(«ints»)", "«set».difference(«ints»)", "«set».symmetric_difference(«set»)", "«set».copy()", "{*«ints», «int»}", "set(map(abs, «ints»))",
        "{len(a) for a in «strs»}", "set(range(«#0..6»))", "(set(«map».values()) - {«int»})",
    ],
}
MODULE_FORMS = {
    "int": ["math.floor(«float» % 100)", "math.ceil(«float» % 100)", "math.gcd(«int» % 1000, «int» % 1000)", "math.factorial(«#0..12»)", "math.isqrt(abs(«int»))", "math.trunc(«float» % 50)", "len(json.dumps(«map»))", "math.comb(«#0..9», «#0..5»)", "math.prod(«ints»)"],
    "float": ["math.modf(«float»)[«#0..1»]", "math.frexp(«float»)[0]", "math.ldexp(«float», «#-3..5»)", "math.remainder(«float», 3)", "math.hypot(«float» % 10, «int» % 10, 1.5)", "math.sqrt(abs(«float» % 100))", "math.modf(«float»)[0]", "math.fmod(«float» % 50, 3)", "math.fabs(«float»)", "math.hypot(3, 4)", "math.copysign(«float», «float»)", "math.fmod(«float» % 100, 7)"],
    "str": ["json.dumps(«map»)", "json.dumps(«ints»)", "json.dumps([«str», «float», «bool», None])", "json.dumps(«map», sort_keys=True)", "json.dumps(«map», indent=«#0..2»)", "json.dumps(«strs», ensure_ascii=False)", "json.dumps({\"a\": «ints»}, separators=(\",\", \":\"))"],
    "ints": ["json.loads(json.dumps(«ints»))", "json.loads(\"«?[1, 2]|[]|[1,|{}»\")"],
    "map": ["json.loads(json.dumps(«map»))"],
    "bool": ["math.isclose(«float», «float»)", "math.isnan(«float»)", "math.isfinite(«float»)"],
}
