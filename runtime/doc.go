// Package runtime is what hosts and generated code import: it registers
// capabilities once, immutably, and serves search, description and execution
// over them. It must never know how a manifest is written or how a transport
// works.
//
//	func main() {
//		runtime.ServeWorkerAndExit() // first: a worker is this program, started again
//		b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll()})
//		catalog.Register(b, catalog.Handlers{Records: records{}})
//		server, err := b.Build(ctx)
//		if err != nil {
//			log.Fatal(err) // every problem of every capability
//		}
//		defer server.Close()
//		x, err := server.Execute(ctx, authz.Local(), source)
//		…
//	}
//
// A Server is safe for concurrent use. Each native call of a program goes, on
// the host, through binding, canonicalization, scopes, authorizer, handler and
// output check, in this order, and ends at the first that fails.
package runtime
