package schema

// reservedRoots are first segments that a capability's name cannot have: the
// program language has, or will have, a name of its own there.
func reservedRoots() []string {
	return append(starlarkUniverse(),
		// The two entry points of a program.
		"main", "result",
		// What capgen adds to the language.
		"attempt", "change", "data", "pages", "parallel", "run",
		// Python's builtins that the language has or answers with a hint.
		"bin", "callable", "classmethod", "complex", "divmod", "filter", "format", "frozenset",
		"globals", "hex", "isinstance", "issubclass", "iter", "locals", "map", "memoryview",
		"next", "object", "oct", "pow", "property", "round", "slice", "staticmethod", "sum", "super",
		"vars",
		// Modules that programs may import.
		"asyncio", "collections", "dataclasses", "datetime", "functools", "itertools", "json",
		"math", "re", "statistics", "typing",
	)
}

// starlarkUniverse lists the names of starlark.Universe. It is a copy because
// the schema must not depend on the interpreter; a test compares the two.
func starlarkUniverse() []string {
	return []string{
		"False", "None", "True", "abs", "all", "any", "bool", "bytes", "chr", "dict", "dir",
		"enumerate", "fail", "float", "getattr", "hasattr", "hash", "int", "len", "list", "max",
		"min", "ord", "print", "range", "repr", "reversed", "set", "sorted", "str", "tuple",
		"type", "zip",
	}
}

// languageKeywords are the words that cannot be an attribute or a keyword
// argument in a program: Starlark's, and Python's beyond them.
func languageKeywords() []string {
	return []string{
		"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
		"continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
		"if", "import", "in", "is", "lambda", "load", "nonlocal", "not", "or", "pass", "raise",
		"return", "try", "while", "with", "yield",
	}
}

// reservedNamespaces are first segments that the generated tree uses itself.
func reservedNamespaces() []string { return []string{"catalog", "lock", "types"} }

// reservedDirectories mean something to the go command wherever they stand in
// a path; main is a package that nothing can import.
func reservedDirectories() []string { return []string{"internal", "main", "testdata", "vendor"} }
