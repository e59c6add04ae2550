// Package canon reads and writes the two byte forms a value has between a
// program and a handler: JSON text and the worker wire encoding. It knows
// nothing of capabilities, policies or the Starlark language, and it uses
// neither reflection nor encoding/json.
//
// Generated types implement two methods over it: Decode, which reads either
// form strictly, and Encode, which writes either form and checks the value on
// the way. The canonical form is RFC 8785 (JSON Canonicalization Scheme); it is
// what authorizers, approvals and audit records hash.
//
//	func (v *Range) Decode(r *canon.Reader) error {
//		*v = Range{}
//		var seen canon.Seen
//		r.BeginObject()
//		for r.NextMember() {
//			switch string(r.Key()) {
//			case "from":
//				seen.Mark(r, 0)
//				v.From = r.Int(1, 1000)
//			default:
//				r.UnknownMember()
//			}
//		}
//		r.Require(&seen, 0, "from")
//		return r.Err()
//	}
//
//	func (v *Range) Encode(w *canon.Writer) {
//		w.BeginObject(1)
//		w.Key("from")
//		w.Int(v.From, 1, 1000)
//		w.EndObject()
//	}
//
// Reading {"from": 0} then fails with the *Error "from: expected an integer
// from 1 to 1000, got 0". Errors stick, so that such code needs no checks of
// its own between two calls.
//
// Nothing here needs more memory than a small multiple of its input, or more
// time than the input's length times its logarithm or its depth, whatever the
// input says of itself: headers that promise gigabytes, exponents of a billion
// and brackets by the million are refused as cheaply as they are sent.
package canon
