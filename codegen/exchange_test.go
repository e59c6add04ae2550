package codegen_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
)

// exchange is one way of a call through everything: a program's arguments are
// bound in a worker, again on the host, made canonical, shown to an authorizer
// and given to a handler, whose output is checked and comes back to the
// program.
type exchange struct {
	name, source string
	arguments    string         // canonical, as the authorizer gets them
	view         map[string]any // nil: not compared
	result       string         // JSON of what the program returns
	failure      string         // of the execution; path and message
}

// exchanges runs them with the capabilities that register adds.
func exchanges(t *testing.T, register func(*runtime.Builder), tests []exchange) {
	t.Helper()
	var arguments string
	var view map[string]any
	b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AuthorizerFunc(func(_ context.Context, r authz.Request) (err error) {
		arguments = string(r.Arguments)
		view, err = r.View()
		return err
	})})
	register(b)
	s, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			arguments, view = "", nil
			x, err := s.Execute(t.Context(), authz.Local(), test.source)
			failure := ""
			if e, ok := err.(*runtime.Error); ok {
				f := e.Fault()
				failure = f.Path + ": " + f.Message
			} else if err != nil {
				t.Fatal(err)
			}
			if failure != test.failure {
				t.Errorf("failure\n got %q\nwant %q", failure, test.failure)
			}
			if string(x.Result) != test.result {
				t.Errorf("result\n got %s\nwant %s", x.Result, test.result)
			}
			if arguments != test.arguments {
				t.Errorf("arguments\n got %s\nwant %s", arguments, test.arguments)
			}
			if test.view != nil {
				if diff := cmp.Diff(test.view, view); diff != "" {
					t.Errorf("view: %s", diff)
				}
			}
		})
	}
}
