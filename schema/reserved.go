package schema

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
func reservedNamespaces() []string { return []string{"catalog", "fake", "lock", "types"} }

// reservedDirectories mean something to the go command wherever they stand in
// a path; main is a package that nothing can import. The others are devices of
// Windows, which the go command refuses in an import path on every system.
func reservedDirectories() []string {
	return []string{
		"internal", "main", "testdata", "vendor",
		"aux", "con", "nul", "prn",
		"com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
		"lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
	}
}
