// Package mcpserver offers a runtime server as three MCP tools, search_api,
// describe_api and execute, and as one for each capability that its manifest
// makes a tool of its own. A job that one of those starts is a task to clients
// that declare MCP's Tasks extension. It must never know a transport, a
// handler or how a request was authenticated; it asks a
// [authz.SubjectResolver] who calls.
//
//	server, err := mcpserver.New(mcpserver.Options{
//		Runtime:  built, // a *runtime.Server
//		Subjects: authz.StaticSubject(authz.Local()),
//	})
//	if err != nil {
//		return err
//	}
//	return server.Run(ctx, transport)
//
// Arguments are read strictly and refused before it is asked who calls. What
// is wrong with a call is an answer with isError that a model can read, never
// a protocol error: see [Answer] for the forms.
package mcpserver
