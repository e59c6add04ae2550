// Package shaping makes of a checked result what a program gets of it, in the
// wire encoding: the parts that are kept, and as many items as fit. It must
// never know a schema, a handler or a subject.
//
//	keep, err := shaping.NewKeep([]string{"/items/*/name"})
//	…
//	wire, err = keep.Apply(wire, 32)            // {"items": [{"name": "a"}, …]}
//	cut := shaping.Cut{Items: 1, List: "items"}
//	wire, err = cut.Apply(wire, 1<<20, 32)      // {"items": [{"name": "a"}], "truncated": true}
package shaping
