package binding

// ReservedRoots returns the first segments that no capability name may have,
// in no order: the program language has, or will have, a name of its own
// there.
func ReservedRoots() []string {
	return append(starlarkUniverse(),
		// The entry points of a program and what it is given.
		"main", "result", "data",
		// What capgen adds to the language.
		"attempt", "change", "pages", "parallel", "run",
		// Builtins of Python that programs of models use.
		"divmod", "filter", "isinstance", "map", "next", "pow", "round", "sum",
		// Modules that programs may import.
		"asyncio", "collections", "dataclasses", "datetime", "functools", "itertools", "json",
		"math", "re", "statistics", "typing",
	)
}

// FamilyNames returns the capabilities that may stand under the reserved roots
// change and run: what capgen adds beside those that people approve. No other
// name may, so that nothing there is ever a way to approve.
func FamilyNames() []string {
	return []string{
		"change.cancel", "change.list", "change.show", "change.status",
		"run.cancel", "run.list", "run.logs", "run.result", "run.status",
	}
}

// starlarkUniverse lists the names of starlark.Universe. It is a copy because
// neither a manifest's loader nor a host should need the interpreter to know
// them; a test compares the two.
func starlarkUniverse() []string {
	return []string{
		"False", "None", "True", "abs", "all", "any", "bool", "bytes", "chr", "dict", "dir",
		"enumerate", "fail", "float", "getattr", "hasattr", "hash", "int", "len", "list", "max",
		"min", "ord", "print", "range", "repr", "reversed", "set", "sorted", "str", "tuple",
		"type", "zip",
	}
}
