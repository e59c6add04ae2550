// Package tree reads directories and files below a few roots, in bounded
// pages, and never anything outside them. It must never know a capability, a
// subject or a policy, and never write.
//
// Every path is relative, slash-separated and in one canonical form (see
// [CheckPath]); "." is the top. With one root, paths are relative to it; with
// several, their first segment is the name of a root. Files are opened through
// [os.Root], so that neither ".." nor a link leads out, whatever changes on
// disk in the meantime. Links that stay inside are followed when a path names
// them and only reported by walks, so that no walk loops. Devices, FIFOs and
// sockets are never opened. No text that leaves this package holds a path of
// the host.
//
//	t, err := tree.Open([]string{dir})
//	if err != nil {
//		return err
//	}
//	defer t.Close()
//	page, err := t.Walk(ctx, tree.WalkRequest{
//		Scope: tree.Scope{Path: ".", Include: []string{"*.go"}},
//		Limit: 1000,
//	})
//
// A request whose answer does not fit one page comes back with Next, a cursor;
// the same request with that cursor goes on where the page ended. Cursors hold
// a position, no state is kept between calls. Order is bytewise by path. Pages
// of a tree that does not change add up to exactly its content.
package tree
