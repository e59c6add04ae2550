package examples

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/internal/trial"
)

// Program is a whole program and what it returns.
type Program struct {
	Title, Source string
	// Result is JSON.
	Result string
}

// Run builds a server of what register adds, runs each example as a program of
// one call and each program as it is, and yields a name with what went wrong,
// or nil. The way is the one of a client's program: worker, binding,
// canonicalization, authorizer (which allows everything), handler, output
// check. What the deployment requires of a server, and its credentials, are
// not needed for that. Like any program that builds a server, the one that calls Run begins
// with runtime.ServeWorkerAndExit.
func Run(ctx context.Context, register func(*runtime.Builder), all []Capability, programs []Program) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AllowAll()})
		b.Trial(trial.New())
		register(b)
		server, err := b.Build(ctx)
		if err != nil {
			yield("build", err)
			return
		}
		more := each(ctx, server, all, programs, yield)
		if err := server.Close(); err != nil && more {
			yield("close", err)
		}
	}
}

// each is false when yield was.
func each(ctx context.Context, server *runtime.Server, all []Capability, programs []Program, yield func(string, error) bool) bool {
	for _, c := range all {
		for _, e := range c.Examples {
			if !yield(c.Name+"/"+e.Title, example(ctx, server, e)) {
				return false
			}
		}
	}
	for _, p := range programs {
		if !yield("programs/"+p.Title, program(ctx, server, p)) {
			return false
		}
	}
	return true
}

func example(ctx context.Context, server *runtime.Server, e Example) error {
	x, err := server.Execute(ctx, authz.Local(), "def main():\n    return "+e.Call+"\n")
	if e.Error != "" {
		var failed *runtime.Error
		if !errors.As(err, &failed) || failed.Fault().Class != fault.CapabilityFailed || failed.Fault().Code != string(e.Error) {
			return fmt.Errorf("%s: got %s, %w, want the error %s", e.Call, x.Result, orNone(err), e.Error)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.Call, err)
	}
	want := e.Output
	if e.Result != "" {
		want = e.Result
	}
	return compare(e.Call, x.Result, want)
}

func program(ctx context.Context, server *runtime.Server, p Program) error {
	x, err := server.Execute(ctx, authz.Local(), p.Source)
	if err != nil {
		return err
	}
	return compare("the program", x.Result, p.Result)
}

func orNone(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

func compare(what string, got []byte, want string) error {
	if same, err := equal(string(got), want); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	} else if !same {
		return fmt.Errorf("%s returned\n%s\nwant\n%s", what, got, want)
	}
	return nil
}
