// Package verbs reads the words of a name and what they say of its effect. It
// must never know who asks: words are evidence, and what follows from them is
// the caller's to say.
//
//	words := verbs.Words("deleteNote") // delete note
//	verbs.Changes(words[0])            // true
package verbs
