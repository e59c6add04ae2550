// Package operate is what people do with governed changes and runs at a terminal:
// they look at plans, approve and reject them, look after jobs, and keep the state
// in order. It must
// never be reached by a program of an agent: nothing of it is a capability, and
// nobody approves without a terminal.
//
//	var changes operate.Setup
//	host.Main(host.Options{
//		Flags:     changes.Flags,
//		Extension: changes.Extension(),
//		Build: func(ctx context.Context, env host.Env) (*runtime.Server, error) {
//			service, err := changes.Open(ctx, env)
//			if err != nil {
//				return nil, err
//			}
//			…
//			catalog.Register(b, catalog.Handlers{Govern: service.Service, …})
//		},
//	})
//
// A host that runs candidates names what it runs them with, and what checks their
// results; its main begins with what the processes of a run need:
//
//	runtime.ServeWorkerAndExit()
//	scope.ServeKeeperAndExit()
//	runner.ServeStarlarkAndExit()
//	changes := operate.Setup{Runners: runners, Results: catalog.Results()}
//
// The state directory is the server's, and 0700. Give it 0750 and a group, and
// approvers in that group can look at plans from an account of their own. What
// they sign reaches the server through an approval daemon (package approve), or,
// where all is one account, the store.
package operate
