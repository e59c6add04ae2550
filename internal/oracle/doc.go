// Package oracle is the second opinion on values: what other makers' code says
// of a JSON text and an effective schema. Tests compare generated decoders with
// it. It must never be imported by anything that is not a test, and it must
// never ask the code that it judges, with one exception: the functions that
// tell whether a string has a format are those of runtime/canon, whose own
// tests compare them with the RFCs' examples and with the JSON Schema suite.
//
//	s, err := oracle.Compile(effective)
//	v, err := oracle.Read(text, 32)   // a *Refusal: no schema needed to say no
//	found := s.Judge(v)               // nothing: s accepts v
//	want, err := s.Canonical(v)       // RFC 8785, with defaults filled in
//
// Schemas are judged by santhosh-tekuri/jsonschema, bytes by gowebpki/jcs; built
// with GOEXPERIMENT=jsonv2, by encoding/json/jsontext too.
package oracle
