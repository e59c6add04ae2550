package mcpserver

import (
	"context"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
)

// Runtime is what the tools need of a server; *runtime.Server implements it.
// It must be safe for concurrent use.
//
// An error that has a method Fault() fault.Fault, as *runtime.Error has, is
// shown to the client with all its parts. Any other error is an internal
// failure whose text goes to the log alone.
type Runtime interface {
	Info() runtime.ServerInfo
	Deployment() string
	Hints() runtime.Hints
	Workers() runtime.Workers
	Search(ctx context.Context, subject authz.Subject, r runtime.SearchRequest) (runtime.SearchResult, error)
	Describe(ctx context.Context, subject authz.Subject, names []string) (runtime.DescribeResult, error)
	// Execute fills the receipt on failure too.
	Execute(ctx context.Context, subject authz.Subject, source string, options ...runtime.ExecuteOption) (runtime.Execution, error)
	// Tools are the capabilities that are tools of their own, always the same.
	Tools() []runtime.Tool
	// Call calls one of them, by the capability's id. It fills the receipt on
	// failure too.
	Call(ctx context.Context, subject authz.Subject, id string, arguments []byte, options ...runtime.ExecuteOption) (runtime.Execution, error)
	// TellsOfJobs says whether CallJob can be asked for everything, always alike.
	TellsOfJobs() bool
	// CallJob asks for something of a job. It fills the receipt on failure too.
	CallJob(ctx context.Context, subject authz.Subject, c runtime.JobCall, job string, options ...runtime.ExecuteOption) (runtime.Execution, error)
	// Check fills the receipt on failure too.
	Check(ctx context.Context, subject authz.Subject, source string, options ...runtime.ExecuteOption) (runtime.Check, error)
}
