// Package ptytest gives a process a terminal of its own, so that tests can be
// whoever sits at it. It is for tests only, and must never know what is asked
// there.
//
//	terminal, err := ptytest.Start(exec.Command(workspace, "approve", plan))
//	...
//	shown, words, err := terminal.Question()
//	terminal.Answer(words + "\n")
//	err = terminal.Wait()
package ptytest
