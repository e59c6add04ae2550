package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
)

// The names of the tools.
const (
	SearchTool   = "search_api"
	DescribeTool = "describe_api"
	ExecuteTool  = "execute"
)

// Tools answers calls of the three tools, and of the capabilities that are tools
// of their own. MCP and the commands of a host use
// the same one, so that they cannot differ. It is safe for concurrent use.
type Tools struct {
	runtime  Runtime
	subjects authz.SubjectResolver
	log      *slog.Logger
	direct   map[string]runtime.Tool

	fairness  *fairness   // nil where there is only one subject
	results   ResultStore // nil for none
	maxResult int
	execution []runtime.ExecuteOption // of every one
	prints    bool                    // whether they are returned
}

// NewTools joins a runtime with the resolver that says who calls. A nil
// logger discards.
func NewTools(rt Runtime, subjects authz.SubjectResolver, log *slog.Logger) (*Tools, error) {
	if rt == nil {
		return nil, errors.New("mcpserver: no runtime given")
	}
	if subjects == nil {
		return nil, errors.New("mcpserver: no subject resolver given")
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	direct, err := directTools(rt)
	if err != nil {
		return nil, err
	}
	return &Tools{runtime: rt, subjects: subjects, log: log, direct: direct}, nil
}

// ReturnPrints has every execution return what its program prints. It is to be
// called before t is used.
func (t *Tools) ReturnPrints() {
	t.prints = true
	t.execution = append(t.execution, runtime.WithPrints())
}

// Call answers one call. arguments are the JSON text of the tool's arguments
// as the caller sent them. Only a tool that does not exist is an error.
func (t *Tools) Call(ctx context.Context, tool string, arguments json.RawMessage) (Answer, error) {
	return t.call(ctx, tool, arguments)
}

// call is Call, with options for an execution that its caller did not write.
func (t *Tools) call(ctx context.Context, tool string, arguments json.RawMessage, options ...runtime.ExecuteOption) (Answer, error) {
	var run func(context.Context, authz.Subject) (Answer, error)
	var f *fault.Fault
	switch tool {
	case SearchTool:
		var r runtime.SearchRequest
		r, f = readSearch(arguments)
		run = func(ctx context.Context, subject authz.Subject) (Answer, error) { return t.search(ctx, subject, r) }
	case DescribeTool:
		var names []string
		names, f = readNames(arguments)
		run = func(ctx context.Context, subject authz.Subject) (Answer, error) {
			return t.describe(ctx, subject, names)
		}
	case ExecuteTool:
		var r programRequest
		r, f = readProgram(arguments)
		run = func(ctx context.Context, subject authz.Subject) (Answer, error) {
			if r.check {
				return t.check(ctx, subject, r)
			}
			r.options = append(append(r.options, t.execution...), options...)
			return t.execute(ctx, subject, r)
		}
	default:
		direct, ok := t.direct[tool]
		if !ok {
			return Answer{}, fmt.Errorf("mcpserver: no tool is called %q", tool)
		}
		run = func(ctx context.Context, subject authz.Subject) (Answer, error) {
			return t.callDirectly(ctx, subject, direct, arguments, options)
		}
	}
	start := time.Now()
	var subject authz.Subject
	var answer Answer
	if f != nil {
		answer = failureAnswer(*f, runtime.Receipt{})
	} else {
		subject, answer = t.run(ctx, run)
	}
	t.log.InfoContext(ctx, "tool call", "tool", tool, "subject", subject.String(), "class", string(answer.Class),
		"duration_us", time.Since(start).Microseconds())
	return answer, nil
}

// run resolves the subject and then runs a call whose arguments are good.
func (t *Tools) run(ctx context.Context, run func(context.Context, authz.Subject) (Answer, error)) (authz.Subject, Answer) {
	subject, leave, err := t.enter(ctx)
	if err != nil {
		return subject, t.failed(ctx, err, runtime.Execution{})
	}
	defer leave()
	answer, err := run(ctx, subject)
	if err != nil {
		answer = t.failed(ctx, err, runtime.Execution{})
	}
	return subject, answer
}

// enter finds out who calls, and takes a place among the calls of theirs, until
// leave is called.
func (t *Tools) enter(ctx context.Context) (subject authz.Subject, leave func(), err error) {
	subject, err = t.subjects.Subject(ctx)
	if err == nil && subject.IsZero() {
		err = authz.ErrUnauthenticated
	}
	if err != nil {
		return authz.Subject{}, nil, err
	}
	who := subject.String()
	if refused := t.fairness.enter(who); refused != nil {
		return subject, nil, &refusal{*refused}
	}
	return subject, func() { t.fairness.leave(who) }, nil
}

// refusal is a fault that is shown as it is.
type refusal struct{ fault fault.Fault }

func (r *refusal) Error() string      { return r.fault.Error() }
func (r *refusal) Fault() fault.Fault { return r.fault }

func (t *Tools) search(ctx context.Context, subject authz.Subject, r runtime.SearchRequest) (Answer, error) {
	result, err := t.runtime.Search(ctx, subject, r)
	if err != nil {
		return Answer{}, err
	}
	result.Results = orEmpty(result.Results)
	result.Namespaces = orEmpty(result.Namespaces)
	content, err := encode(result)
	return Answer{Content: content}, err
}

func (t *Tools) describe(ctx context.Context, subject authz.Subject, names []string) (Answer, error) {
	result, err := t.runtime.Describe(ctx, subject, names)
	if err != nil {
		return Answer{}, err
	}
	result.Capabilities = orEmpty(result.Capabilities)
	result.NotFound = orEmpty(result.NotFound)
	result.Truncated = orEmpty(result.Truncated)
	content, err := encode(result)
	return Answer{Content: content}, err
}

func (t *Tools) execute(ctx context.Context, subject authz.Subject, r programRequest) (Answer, error) {
	x, err := t.runtime.Execute(ctx, subject, r.source, r.options...)
	if !t.prints { // the list of tools has no such member
		x.Prints = runtime.Prints{}
	}
	if err == nil {
		var answer Answer
		if answer, err = executionAnswer(x, t.keep(ctx, subject, x.Result), t.prints); err == nil {
			return answer, nil
		}
	}
	return t.failed(ctx, err, x), nil
}

func (t *Tools) check(ctx context.Context, subject authz.Subject, r programRequest) (Answer, error) {
	c, err := t.runtime.Check(ctx, subject, r.source, r.options...)
	if err == nil {
		var answer Answer
		if answer, err = checkAnswer(c); err == nil {
			return answer, nil
		}
	}
	return t.failed(ctx, err, runtime.Execution{Receipt: c.Receipt}), nil
}

// failed tells of an error what its maker meant to be shown, and logs the rest.
func (t *Tools) failed(ctx context.Context, err error, x runtime.Execution) Answer {
	return failedExecution(t.fault(ctx, err), x)
}

// fault is what is shown of an error.
func (t *Tools) fault(ctx context.Context, err error) fault.Fault {
	var shown interface{ Fault() fault.Fault }
	switch {
	case errors.As(err, &shown):
		return shown.Fault()
	case errors.Is(err, authz.ErrUnauthenticated):
		return fault.Fault{Class: fault.Unauthenticated, Message: "the request carries no identity"}
	case ctx.Err() != nil:
		return fault.Fault{Class: fault.Cancelled, Message: "the call was cancelled"}
	}
	t.log.ErrorContext(ctx, "tool call", "error", err)
	return fault.Fault{Class: fault.Internal, Message: "internal failure"}
}

// orEmpty keeps an absent list from becoming null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
