// Package repotest holds the rules of this repository as tests: what a package
// must say of itself, who may import whom, what the call path may use, and that
// no document says more than the tree can show. It must never be imported, and
// it never changes a file.
//
// A rule is a function from a tree of files to findings. Each runs twice: over
// the repository, where it must find nothing, and over a small tree that breaks
// it, where it must find exactly what is wrong there. A rule that cannot fail
// would fail the second run.
//
// To add one, write the function and a row of the table in rules_test.go:
//
//	{"lines", longFiles, bad("a.go", strings.Repeat("\n", 601)), []string{"a.go: 601 lines, at most 600"}},
package repotest
