// Package visible writes text so that a reader sees all of it: what does not
// show as itself is spelled out. It must never know where a text comes from or
// goes to; every text is taken as hostile.
//
//	visible.Text("a\u202eb")  // a\u202eb, the escape written out
//	visible.Quote("say \"x\"") // "say \"x\"", a literal of Go and of Starlark
package visible
