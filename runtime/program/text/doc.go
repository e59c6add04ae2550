// Package text is Python's str over Go strings that hold valid UTF-8: lengths,
// offsets and slices count code points. It knows neither Starlark nor the
// program; the caller bounds what is built.
//
//	text.Find("naïve", "v", 0, text.End) // 3
//
// A text of ASCII alone costs what Go's own functions do. The rules are those
// of CPython 3.12's library reference, "Text Sequence Type — str".
package text
