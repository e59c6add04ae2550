// Package change replaces one directory below a confined root by another, as a
// whole and at once, and brings that to an end after any crash. It must never
// know who approved a change, or what the files mean.
//
// A [Tree] is what a directory holds: every path with its kind, permission
// bits, size and SHA-256, empty directories included. Its hash binds all of it;
// that nothing is there is a tree of its own, [Absent]. A [Landing] has two of
// them, what is there (pre) and what was approved (post):
//
//	l := change.Landing{Parent: dir, Name: "momentum", ID: execution, Pre: pre, Post: post}
//	outcome, err := l.Land(ctx, blobs, journal)
//
// Land stages post beside its target, durable, and reads it back; takes the
// directory's lock; exchanges the two names; and reads what it displaced: when
// that is not pre, somebody wrote in between, and the names are exchanged back.
// Readers who open the directory see the old tree or the new one, none and both
// never. After a crash the same call goes on from what is on disk.
package change
