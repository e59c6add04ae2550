// Package codegen turns a manifest in its effective form into the files of a
// generated root: typed Go bindings, a catalog and lock files. It must never
// know a disk, a clock, the order in which entries were written or a version
// of itself: files are a pure function of the model.
//
// A capability files.list with the parameters path (required) and limit
// (default 100) becomes, among others, this file files/list_gen.go:
//
//	// ListInput is the input of files.list.
//	type ListInput struct {
//		// Directory to list.
//		Path  string
//		Limit int64
//	}
//
//	func (v *ListInput) Decode(r *canon.Reader) error { … }
//	func (v *ListInput) Encode(w *canon.Writer) { … }
//	func (v *ListInput) AppendCanonical(b []byte) []byte { … }
//
//	func listCapability(h Handlers) runtime.Capability { … }
//
// The work goes in three steps. Names are gathered and resolved once
// (names.go, plan.go): after that the plan holds every decision, and a name
// that would be declared twice is a diagnostic, never a suffix. The emitters
// (emit_*.go) write the plan down, each one declaration. Text of the manifest
// is untrusted: it reaches Go only through texts.go.
package codegen
