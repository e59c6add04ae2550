package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/review"
	"github.com/capgen/capgen/runtime/host"
)

func (s *Setup) pending(ctx context.Context, i host.Invocation) error {
	return s.list(ctx, i, "prepared")
}

func (s *Setup) plans(ctx context.Context, i host.Invocation) error {
	return s.list(ctx, i, s.flags.status)
}

// list prints the plans with a status, page after page.
func (s *Setup) list(ctx context.Context, i host.Invocation, status string) (err error) {
	o, service, err := s.reader(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	rows := [][]string{{"PLAN", "STATUS", "EXPIRES", "CAPABILITY", "SUMMARY"}}
	f := govern.Filter{Status: status, Limit: govern.MaxPage}
	for {
		page, err := o.Plans(ctx, f)
		if err != nil {
			return err
		}
		for _, p := range page.Plans {
			word := p.Status
			if p.State != "" {
				word = p.State
			}
			rows = append(rows, []string{p.Plan, word, p.Expires.UTC().Format(time.RFC3339), p.Capability, p.Summary})
		}
		if f.After = page.Next; f.After == "" {
			break
		}
	}
	if len(rows) == 1 {
		_, err := fmt.Fprintln(i.Stderr, "no plans")
		return err
	}
	return table(i, rows)
}

// show prints a plan as approve does, and how far it has come; or a job.
func (s *Setup) show(ctx context.Context, i host.Invocation) (err error) {
	if strings.HasPrefix(i.Arguments[0], jobPrefix) {
		return s.showJob(ctx, i)
	}
	o, service, err := s.reader(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	plan := i.Arguments[0]
	v, err := o.Show(ctx, plan)
	if err != nil {
		return err
	}
	body, err := o.Body(ctx, plan)
	if err != nil {
		return err
	}
	// A program that is another one by now is on the page; it is no reason not to
	// look.
	if _, err := review.Render(i.Stdout, body, o.Object, review.Program); err != nil && !errors.Is(err, review.ErrProgram) {
		return err
	}
	word := v.Status
	if v.State != "" {
		word += ", " + v.State
	}
	if v.Reason != "" {
		word += ": " + v.Reason
	}
	_, err = fmt.Fprintf(i.Stdout, "\nThe plan is %s. Of %d approvals that it needs, the store holds %d.\n", visible.Text(strings.TrimSpace(word)), v.Min, v.Approvals)
	return err
}
