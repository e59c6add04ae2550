// Package fault says how an execution can end badly: a closed set of classes
// and one value that carries where and why. Host and worker share it, so it
// must never know a subject, a policy or a handler.
//
// A worker writes a Fault into a frame and the host reads it back:
//
//	w := canon.NewWireWriter(nil)
//	f.Encode(w)
//	…
//	r := canon.NewWireReader(payload, fault.Depth)
//	var f fault.Fault
//	if err := f.Decode(r); err != nil { … } // a worker that lies
//	if err := r.End(); err != nil { … }
//
// What the host reads is hostile. Decode bounds every text and refuses a class
// it does not know; whether a worker may claim a class at all (a denial, say)
// is for the host to decide.
package fault
