//go:build race

package runner

// raced: the race detector links C code, whose threads the sandbox cannot reach.
const raced = true
