package host

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
)

// extension is what the child of the scripts understands besides.
func extension() Extension {
	reason := ""
	return Extension{
		Flags:     func(f *flag.FlagSet) { f.StringVar(&reason, "reason", "", "reject: `why`") },
		Variables: map[string]string{"reason": "CAPGEN_TEST_REASON"},
		Commands: []Command{
			{Name: "plans", Summary: "list what waits", Run: func(_ context.Context, i Invocation) error {
				_, err := fmt.Fprintf(i.Stdout, "no plans of %s (%s)\n", i.Program, i.Env.Deployment)
				return err
			}},
			{Name: "plans reject", Arguments: "PLAN", Summary: "say no", Min: 1, Max: 1, Flags: []string{"reason"}, Run: func(_ context.Context, i Invocation) error {
				switch strings.Join(i.Arguments, " ") {
				case "gone":
					return errors.New("no such plan")
				case "altered":
					return errors.New("a row\nholds \x1b[2J")
				case "wrong":
					return &ExitError{Code: ExitUsage, Err: errors.New("those were not the words")}
				case "quiet":
					return &ExitError{Code: 7}
				}
				_, err := fmt.Fprintf(i.Stdout, "rejected %s: %s\n", i.Arguments[0], reason)
				return err
			}},
			{Name: "tend", Arguments: "PLAN", Summary: "go on with one", Min: 1, Max: 1, Hidden: true, Run: func(_ context.Context, i Invocation) error {
				_, err := fmt.Fprintf(i.Stdout, "tends %s\n", i.Arguments[0])
				return err
			}},
		},
		Doctor: func(_ context.Context, _ Env, line func(string, string, ...any)) bool {
			line("approvals", "nobody but you")
			return true
		},
	}
}
