package runtime

import (
	"context"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// Check is what a look at a program found. Nothing of the program ran.
type Check struct {
	// Problems that would end the program, in the order of the source, at most
	// 20. None does not promise success: values that only a
	// run has are not judged.
	Problems []fault.Fault
	// Capabilities that the program names, in the order of the source.
	Capabilities []CheckedCapability
	// Receipt has no calls, and says that it is of a check.
	Receipt Receipt
}

// CheckedCapability is a capability that a program names.
type CheckedCapability struct {
	Name   string `json:"name"`
	ID     string `json:"id"`
	Effect Effect `json:"effect"`
	// Line and Column are the first place.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Verdict of policy for the subject: Deny where a scope is missing, and
	// else what the authorizer says, if it is an authz.Previewer; empty where
	// nobody can say before a call.
	Verdict authz.Verdict `json:"verdict,omitempty"`
	// MissingScope is the first required scope that the subject does not have.
	MissingScope string `json:"missing_scope,omitempty"`
}

// Check looks at a program for subject, in a worker process of its own, as an
// execution would be run: its syntax, its names, the arguments of its calls
// and which capabilities it names. No capability is called, and Authorize is
// not asked. An error is an *Error: the check itself could not be done.
func (s *Server) Check(ctx context.Context, subject authz.Subject, source string, options ...ExecuteOption) (Check, error) {
	start := time.Now()
	x := &execution{server: s, subject: subject}
	for _, o := range options {
		o(x)
	}
	check := Check{Receipt: Receipt{
		Execution:  newExecutionID(),
		Deployment: s.deployment,
		Catalog:    s.catalog.digest,
		Checked:    true,
		Calls:      []CallRecord{},
	}}
	report, f := x.look(ctx, source)
	if f == nil {
		check.Problems, check.Capabilities, f = x.judge(ctx, report)
	}
	check.Receipt.DurationMicros = time.Since(start).Microseconds()
	class := fault.Class("")
	if f != nil {
		class = f.Class
	}
	s.log.InfoContext(ctx, "program checked", "execution", check.Receipt.Execution, "subject", subject.String(),
		"class", string(class), "problems", len(check.Problems), "duration_us", check.Receipt.DurationMicros)
	if f != nil {
		return Check{Receipt: check.Receipt}, &Error{fault: *f}
	}
	return check, nil
}

// look has a worker check the program. One that calls all the same is hostile.
func (x *execution) look(ctx context.Context, source string) (*worker.Report, *fault.Fault) {
	if f := x.admissible(source); f != nil {
		return nil, f
	}
	result, f := x.work(ctx, worker.Job{Source: source, Check: true, Call: func(context.Context, worker.Call) worker.Reply {
		return worker.Reply{Broken: "a call during a check"}
	}})
	if f != nil {
		return nil, f
	}
	if result.Report == nil {
		return nil, x.lyingReport(ctx, "no report")
	}
	return result.Report, nil
}

// judge adds what only the host knows. A worker is hostile: problems of other
// classes than a program's, and capabilities that are not in the catalog, are
// no report.
func (x *execution) judge(ctx context.Context, report *worker.Report) (problems []fault.Fault, reached []CheckedCapability, f *fault.Fault) {
	problems, reached = []fault.Fault{}, []CheckedCapability{}
	for _, p := range report.Problems {
		if hostOnly(p.Class) {
			return nil, nil, x.lyingReport(ctx, "a problem of class "+string(p.Class))
		}
		problems = append(problems, *p)
	}
	for _, u := range report.Reached {
		entry := x.server.catalog.byID(u.ID)
		if entry == nil {
			return nil, nil, x.lyingReport(ctx, "a capability that is not in the catalog")
		}
		c := CheckedCapability{
			Name: entry.info.Name, ID: entry.info.ID, Effect: entry.info.Effect, Line: u.Line, Column: u.Column,
		}
		c.Verdict, c.MissingScope = x.server.dispatcher.preview(ctx, x.subject, entry)
		reached = append(reached, c)
	}
	return problems, reached, nil
}

func (x *execution) lyingReport(ctx context.Context, what string) *fault.Fault {
	x.server.log.ErrorContext(ctx, "worker lied in its report", "what", what)
	return &fault.Fault{Class: fault.Internal, Message: "the check could not be read"}
}

// preview says what can be said of a capability before a call. What an
// authorizer says that is no verdict, or a panic, is nothing.
func (d *dispatcher) preview(ctx context.Context, subject authz.Subject, entry *entry) (verdict authz.Verdict, missing string) {
	if missing := missingScope(subject, entry); missing != "" {
		return authz.Deny, missing
	}
	p, ok := d.authorizer.(authz.Previewer)
	if !ok {
		return "", ""
	}
	verdict, err := askPreview(ctx, p, subject, entry.info.ID)
	switch {
	case err != nil:
	case verdict == authz.Allow, verdict == authz.Deny, verdict == authz.Depends:
		return verdict, ""
	}
	d.log.ErrorContext(ctx, "no verdict from the preview", "capability", entry.info.ID, "verdict", string(verdict), "error", err)
	return "", ""
}

func askPreview(ctx context.Context, p authz.Previewer, subject authz.Subject, id string) (v authz.Verdict, err error) {
	defer contain(&err)
	return p.Preview(ctx, subject, id), nil
}
