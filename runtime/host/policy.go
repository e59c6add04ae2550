package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// decisionTime bounds one decision of a test.
const decisionTime = 10 * time.Second

// maxReason is how much of a reason a table shows, in bytes.
const maxReason = 300

// decider is a runtime that says what it would decide of a call.
type decider interface {
	Decide(ctx context.Context, subject authz.Subject, capability string, arguments []byte) (authz.Decision, error)
}

// policy holds the authorizer of the server to files of cases. Nothing is
// called. All files are read before the first case is decided.
func (p *program) policy(ctx context.Context, s session) int {
	if s.arguments[0] != "test" {
		return p.misuse(fmt.Errorf("policy: expected test, got %q", s.arguments[0]))
	}
	server, ok := s.runtime.(decider)
	if !ok {
		return p.broken(errors.New("this runtime decides nothing without a call"))
	}
	type file struct {
		name  string
		text  []byte
		cases []policyCase
	}
	var files []file
	for _, name := range s.arguments[1:] {
		source, err := p.readSource(name)
		if err != nil {
			return p.broken(err)
		}
		text := []byte(source)
		cases, err := readCases(text, s.granted)
		if err != nil {
			return p.broken(errors.New(visible.Text(placed(name, text, err).Error())))
		}
		files = append(files, file{name, text, cases})
	}
	count := 0
	var failures []string
	for _, f := range files {
		for _, c := range f.cases {
			if ctx.Err() != nil {
				return p.broken(context.Cause(ctx))
			}
			count++
			offset, got := c.try(ctx, server)
			if got == "" {
				continue
			}
			line, column := position(f.text, offset)
			failures = append(failures, row(fmt.Sprintf("%s:%d:%d", f.name, line, column), c.capability, c.subject.String(), c.wanted(), got, c.title))
		}
	}
	return p.policyResult(count, failures)
}

// try is what was decided instead of what a case expects, and where in the
// file; empty if it is what it expects.
func (c policyCase) try(ctx context.Context, server decider) (offset int, got string) {
	ctx, cancel := context.WithTimeout(ctx, decisionTime)
	defer cancel()
	decision, err := server.Decide(ctx, c.subject, c.capability, c.arguments)
	var refused *canon.Error
	switch {
	case errors.Is(err, runtime.ErrCapabilityNotFound):
		return c.offset, "no such capability"
	case errors.As(err, &refused):
		return c.at + max(refused.Offset, 0), "invalid arguments: " + refused.Error()
	case err != nil:
		return c.at, err.Error()
	}
	reason := ""
	if decision.Err != nil {
		reason = decision.Err.Error()
	}
	if decision.Outcome == c.expect && strings.Contains(reason, c.reason) {
		return 0, ""
	}
	got = verdict(decision.Outcome)
	if reason != "" {
		got += ": " + reason
	}
	return c.offset, got
}

func (c policyCase) wanted() string {
	if c.reason == "" {
		return verdict(c.expect)
	}
	return verdict(c.expect) + ": …" + c.reason + "…"
}

// verdict is an outcome in the word of a case.
func verdict(o authz.Outcome) string {
	switch o {
	case authz.Allowed:
		return "allow"
	case authz.Denied:
		return "deny"
	}
	return "fail"
}

// row is a line of the table; no cell can make it two, or more columns.
func row(cells ...string) string {
	for i, cell := range cells {
		if len(cell) > maxReason {
			cell = strings.ToValidUTF8(cell[:maxReason], "") + "…"
		}
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(visible.Text(cell), "\n", " "), "\t", " ")
	}
	return strings.Join(cells, "\t")
}

func (p *program) policyResult(count int, failures []string) int {
	if len(failures) == 0 {
		return p.print(fmt.Sprintf("%d cases: all are decided as expected\n", count))
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, row("CASE", "CAPABILITY", "SUBJECT", "EXPECTED", "GOT", "TITLE"))
	for _, f := range failures {
		fmt.Fprintln(w, f)
	}
	w.Flush() // into memory
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	if code := p.print(fmt.Sprintf("%s\n%d cases: %d are not decided as expected\n", strings.Join(lines, "\n"), count, len(failures))); code != ExitOK {
		return code
	}
	return ExitFailed
}
