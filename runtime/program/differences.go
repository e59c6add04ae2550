package program

// Difference is something that a program can tell this language from CPython
// by, and that stays so.
type Difference struct {
	// Construct is what the program uses.
	Construct string
	// CPython and Here say what happens there and here.
	CPython, Here string
	// Reason says why.
	Reason string
	// Example is a program that shows it. Its answers are what
	// testdata/differential has: ok and the value as JSON, or the error.
	Example                     string
	ExampleCPython, ExampleHere string
}

// Differences are all those that are known; whatever else differs is a defect.
func Differences() []Difference {
	return []Difference{
		{
			Construct: "names that are not defined",
			CPython:   "NameError when the name is used", Here: "an error before the program runs",
			Reason:  "a typo in a branch that seldom runs is found at once, before any capability is called",
			Example: "if False:\n    misspelt\n1\n", ExampleCPython: "ok 1", ExampleHere: "NameError: name 'misspelt' is not defined",
		},
		{
			Construct: "import of a module that is not available",
			CPython:   "ModuleNotFoundError when the statement runs", Here: "an error before the program runs",
			Reason:  "the error can say what to use instead, before any capability is called",
			Example: "try:\n    import numpy\nexcept ImportError:\n    pass\n1\n", ExampleCPython: "ok 1", ExampleHere: "the module numpy is not available",
		},
		{
			Construct: "annotations",
			CPython:   "evaluated where they stand in a function's head or at the top level", Here: "read, and never evaluated",
			Reason:  "they say nothing to a program, and often name types that are not there",
			Example: "def f(x: 1 / 0): return x\nf(1)\n", ExampleCPython: "ZeroDivisionError: division by zero", ExampleHere: "ok 1",
		},
		{
			Construct: "True, 1 and 1.0 as keys of a dict and elements of a set",
			CPython:   "the same key", Here: "True is another key than 1",
			Reason:  "the engine's dicts tell bools from numbers, as JSON does",
			Example: "len({1: \"a\", True: \"b\"})\n", ExampleCPython: "ok 1", ExampleHere: "ok 2",
		},
		{
			Construct: "the order of sets",
			CPython:   "by hash", Here: "the order of insertion",
			Reason:  "a program gives the same result each time it runs",
			Example: "[str(i) for i in {\"9\", \"1\", \"5\"}] == [\"9\", \"1\", \"5\"] or len({8, 1}) == 2 and list({8, 1}) == [8, 1]\n", ExampleCPython: "", ExampleHere: "ok true",
		},
		{
			Construct: "is of numbers, strings and tuples",
			CPython:   "tells whether they are one object", Here: "tells whether numbers and strings are equal and of one type; each NaN is itself",
			Reason:  "numbers and strings have no identity",
			Example: "x = 1000\nx is int(\"1000\") or float(\"nan\") in [float(\"nan\")]\n", ExampleCPython: "ok false", ExampleHere: "ok true",
		},
		{
			Construct: "a key that is removed and added again in a loop over its dict",
			CPython:   "is gone through again, or left out, or RuntimeError, as the table of the dict has room", Here: "keeps its place in the loop, or RuntimeError: dictionary keys changed during iteration",
			Reason:  "the engine's dicts have no places that stay empty",
			Example: "d = {\"a\": 1, \"b\": 2, \"c\": 3}\nout = []\nfor k in d:\n    out.append(k)\n    if k == \"a\":\n        d[\"b\"] = d.pop(\"b\")\nout\n", ExampleCPython: "ok [\"a\", \"c\", \"b\"]", ExampleHere: "RuntimeError: dictionary keys changed during iteration",
		},
		{
			Construct: "repr of functions, iterators and object()",
			CPython:   "has their address", Here: "has none",
			Reason:  "a program gives the same result each time it runs",
			Example: "repr(iter([])) == \"<list_iterator object>\"\n", ExampleCPython: "ok false", ExampleHere: "ok true",
		},
		{
			Construct: "the quotes of an f-string within its fields",
			CPython:   "SyntaxError before 3.12", Here: "begin a string of the field, as in 3.12",
			Reason:  "models write both, and what the program means is clear",
			Example: "d = {\"a\": 1}\nf\"{d[\"a\"]}\"\n", ExampleCPython: "SyntaxError", ExampleHere: "ok \"1\"",
		},
		{
			Construct: "builtins, methods and attributes that this page does not name, such as __len__ or int.to_bytes",
			CPython:   "are there", Here: "NameError before the program runs, or AttributeError",
			Reason:  "programs seldom need them",
			Example: "\"abc\".__len__()\n", ExampleCPython: "ok 3", ExampleHere: "AttributeError: 'str' object has no attribute '__len__'",
		},
		{
			Construct: "a bare raise in a function that a handler calls",
			CPython:   "raises what the caller's handler caught", Here: "RuntimeError: a bare raise belongs into the handler itself",
			Reason:  "a handler is a part of its function; none of CPython's state of the thread is kept",
			Example: "def f():\n    raise\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    f()\n", ExampleCPython: "ZeroDivisionError: division by zero",
			ExampleHere: "RuntimeError: No active exception to reraise",
		},
		{
			Construct: "__context__, __traceback__, notes, name and obj of exceptions",
			CPython:   "attributes", Here: "there are none; args, __cause__, errno, strerror, filename, value and code are there",
			Reason:  "none of CPython's state of the thread is kept",
			Example: "hasattr(ValueError(), \"__context__\")\n", ExampleCPython: "ok true", ExampleHere: "ok false",
		},
		{
			Construct: "await, asyncio.run and the like of what is no coroutine",
			CPython:   "TypeError", Here: "the value itself",
			Reason:  "calls of capabilities return their results at once, and models await them",
			Example: "import asyncio\nasync def main():\n    return await 5\nasyncio.run(main())\n", ExampleCPython: "TypeError: object int can't be used in 'await' expression", ExampleHere: "ok 5",
		},
		{
			Construct: "return at the top level",
			CPython:   "SyntaxError", Here: "ends the program with that value",
			Reason:  "a program without main is the body of one",
			Example: "return 1\n", ExampleCPython: "SyntaxError", ExampleHere: "ok 1",
		},
		{
			Construct: "global behind a use of the name in the same function",
			CPython:   "SyntaxError", Here: "holds for the whole function",
			Reason:  "what the program means is clear",
			Example: "def f():\n    x = 1\n    global x\nf()\nx\n", ExampleCPython: "SyntaxError", ExampleHere: "ok 1",
		},
		{
			Construct: "the result of a program",
			CPython:   "any value", Here: "JSON: integers beyond ±(2**53-1) leave as strings, keys are strings, as json.dumps writes them, and differ, strings have no half code points",
			Reason:  "a result that other JSON readers would change is no result",
			Example: "2 ** 60\n", ExampleCPython: "ok 1152921504606846976", ExampleHere: "ok \"1152921504606846976\"",
		},
		{
			Construct: "texts of errors about * and ** arguments",
			CPython:   "name the function", Here: "do not",
			Reason:  "the arguments are read before it is known what is called",
			Example: "def f(a): return a\nf(**5)\n", ExampleCPython: "TypeError: __main__.f() argument after ** must be a mapping, not int",
			ExampleHere: "TypeError: argument after ** must be a mapping, not int",
		},
		{
			Construct: "the texts of errors about bounds",
			CPython:   "name its own bounds and how to raise them", Here: "name those of this engine",
			Reason:  "a program cannot raise them",
			Example: "str(10 ** 5000)\n", ExampleCPython: "ValueError: Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit",
			ExampleHere: "ValueError: Exceeds the limit (4300 digits) for integer string conversion",
		},
		{
			Construct: "the last digit of sin, cos, tan, log10 and the like",
			CPython:   "the C library's", Here: "the nearest float, or one beside it; **, pow, exp and log agree",
			Reason:  "both are right to all digits that mean something; no C library is in a worker",
			Example: "import math\nmath.tan(math.pi / 4)\n", ExampleCPython: "ok 0.9999999999999999", ExampleHere: "ok 1.0",
		},
		{
			Construct: "a negative number to the power of a fraction",
			CPython:   "a complex number", Here: "ValueError",
			Reason:  "there are no complex numbers: no capability takes one",
			Example: "type((-8) ** 0.5).__name__\n", ExampleCPython: "ok \"complex\"", ExampleHere: "ValueError: complex numbers are not available: a negative number to a fractional power",
		},
		{
			Construct: "recursion",
			CPython:   "RecursionError at 1,000 calls, which a program can catch", Here: "the program ends at 5,000 calls",
			Reason:  "it is a limit, and no limit can be caught",
			Example: "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nf(2000)\n", ExampleCPython: "RecursionError", ExampleHere: "ok 2000",
		},
		{
			Construct: "hash",
			CPython:   "of whatever can be a key", Here: "of strings",
			Reason:  "CPython's hashes of strings differ from run to run, and nothing else asks for one",
			Example: "hash(5)\n", ExampleCPython: "ok 5", ExampleHere: "TypeError: hash: got int, want string or bytes",
		},
		{
			Construct: "\\N{…} in strings",
			CPython:   "the character of that name", Here: "an error before the program runs",
			Reason:  "the table of names is larger than the engine",
			Example: "\"\\N{BULLET}\"\n", ExampleCPython: "ok \"•\"", ExampleHere: "\\N escapes are not available",
		},
	}
}
