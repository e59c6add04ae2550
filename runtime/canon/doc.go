// Package canon reads and writes the two byte forms a value has between a
// program and a handler: JSON text and the worker wire encoding. It knows
// nothing of capabilities, policies or the Starlark language, and it uses
// neither reflection nor encoding/json.
//
// Generated types implement two methods over it: Decode, which reads either
// form strictly, and Encode, which writes either form. The canonical form is
// RFC 8785 (JSON Canonicalization Scheme); it is what authorizers, approvals
// and audit records hash.
package canon
