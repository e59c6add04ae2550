// Package review shows people what they are about to approve, and has them
// confirm that on the terminal. It computes what it shows from the plan and the
// content store, never from words of whoever asks, and takes every byte of them
// as hostile. It must never know who approves, or how.
//
//	terminal, err := review.OpenTerminal()
//	...
//	shown, err := review.Render(terminal, body, objects.Get)
//	...
//	if err := terminal.Confirm(ctx, "approve"); err != nil {
//		return err // nothing was signed
//	}
//	statement.Shown = shown
//
// What Render writes has no control character but the line feed, and no line of
// it can pass for one of another kind: what is quoted begins with a mark, and
// lines are wrapped before a terminal does. Whatever is too long to show is
// listed by size and hash, and the end says so.
package review
