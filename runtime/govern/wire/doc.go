// Package wire holds what programs pass to the parts of governed capabilities
// and get from them, in the form of generated code, and what turns it into
// calls of package govern and back. It must never know a capability of a
// manifest: what differs between those is generated beside them.
//
// Generated code of a capability called site.publish has, among others:
//
//	func publishApplyCapability(g *govern.Service) runtime.Capability {
//		return runtime.NewCapability(runtime.Info{…}, func(ctx context.Context, in wire.ApplyInput) (wire.ApplyOutput, error) {
//			return wire.Landed(govern.ApplyChange(ctx, g, publishTerms(), in.Claim()))
//		})
//	}
//
// The types in *_gen.go come from the schemas of approval; a test of package
// codegen writes and compares them.
package wire
