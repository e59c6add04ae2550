// Package results keeps the results of programs that are too large to answer
// with, for a while, so that their subject can fetch them in parts. It must
// never know MCP, programs or how a subject was established.
//
//	store, err := results.Open(dir) // or results.Private()
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	id, err := store.Put(subject, text)
//	…
//	text, err := store.Get(subject, id) // ErrNotFound for every other subject
//
// A store is a directory. Processes that share load share it, and each finds
// what the others have put there.
package results
