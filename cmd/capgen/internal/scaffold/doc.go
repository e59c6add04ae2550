// Package scaffold says what a new project holds: a manifest with one
// capability, its handler, a program, tests, and the code generated from the
// manifest. It must never know a disk or run a command: files are a pure
// function of the project's module and of where capgen comes from.
//
//	files, err := scaffold.Files(scaffold.Project{Module: "example.com/notes", Replace: "../capgen"})
//	files["main.go"], files["generated/random/int_gen.go"], files["go.mod"], …
package scaffold
