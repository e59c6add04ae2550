// Package examples answers native calls from the examples of a manifest, and
// runs those examples and the manifest's programs as a client would. It must
// never know a handler that does anything.
//
// Generated code calls it: package fake of a generated root has handlers that
// answer from the examples, and a test that runs everything.
//
//	b := runtime.NewBuilder(options)
//	catalog.Register(b, fake.Handlers())
//
// gives a server on which records.lookup(key="a") returns what the manifest
// says, and any call without an example fails with runtime.CodeNoExample.
package examples
