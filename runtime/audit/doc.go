// Package audit keeps a log of native calls that shows when somebody has
// changed it: who called what, whether that was allowed, and what came of it.
// It must never know a transport, a handler or a policy, and no value of an
// argument is in the log unless the host asks for it.
//
//	log, err := audit.Open(audit.Options{Dir: dir, Key: audit.Key{ID: "2026", Secret: secret}})
//	if err != nil {
//		return err
//	}
//	b := runtime.NewBuilder(runtime.Options{Audit: log, …}) // the server closes it
//
// A record is one line of JSON. It holds the SHA-256 of what stands before its
// hash, and the hash of the record before it, so that Verify names the first
// record that was changed, removed or moved. Whoever can write the files can
// still write all of them anew, or cut the end off: against that, heads of the
// chain are signed and go to a second place, which the host only appends to.
package audit
