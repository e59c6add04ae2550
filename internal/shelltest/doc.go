// Package shelltest runs a script in a test, and ends all that it has started
// when it ends itself: a server in the background does not outlive the check that
// fails. It is for tests only, and must never know what a script is about.
//
//	stdout, stderr, err := shelltest.Run(exec.Command("sh", "-euc", block), 2*time.Minute)
package shelltest
