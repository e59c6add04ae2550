// Package host turns a built server into a program: it parses flags, logs,
// serves MCP over standard input and output or over HTTP, and runs programs, searches and
// descriptions from the command line. It must never know a capability, and no
// flag or variable of it sets a limit.
//
//	func main() {
//		runtime.ServeWorkerAndExit()
//		root := "."
//		os.Exit(host.Main(host.Options{
//			Name:    "files-server",
//			Version: "1.0.0",
//			Flags:   func(f *flag.FlagSet) { f.StringVar(&root, "root", root, "directory to serve") },
//			Build: func(ctx context.Context, env host.Env) (*runtime.Server, error) {
//				b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AllowAll(), Logger: env.Logger, Sandbox: env.Sandbox})
//				catalog.Register(b, handlers(root))
//				return b.Build(ctx)
//			},
//		}))
//	}
//
// Standard output belongs to the protocol, or to the one result of a command:
// Main takes it before it runs any code of the host, and whatever else prints
// there lands on standard error.
package host
