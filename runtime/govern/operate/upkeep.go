package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/host"
)

// recover brings interrupted landings to their end, and jobs that have lost their
// supervisor, and says which.
func (s *Setup) recover(ctx context.Context, i host.Invocation) (err error) {
	o, service, err := s.operator(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	if s.flags.gone != "" {
		return s.giveUp(ctx, i, o)
	}
	r, err := o.Recover(ctx)
	for _, plan := range slices.Sorted(maps.Keys(r.Ended)) {
		fmt.Fprintf(i.Stdout, "%s %s\n", plan, r.Ended[plan])
	}
	for _, plan := range r.Waiting {
		fmt.Fprintf(i.Stdout, "%s waits for whoever asked\n", plan)
	}
	for _, id := range slices.Sorted(maps.Keys(r.Jobs)) {
		fmt.Fprintf(i.Stdout, "%s %s\n", id, r.Jobs[id])
	}
	for _, id := range slices.Sorted(maps.Keys(r.Elsewhere)) {
		fmt.Fprintf(i.Stdout, "%s is of the host %s: if that is gone for good, recover --gone %s\n", id, r.Elsewhere[id], r.Elsewhere[id])
	}
	if err == nil {
		fmt.Fprintf(i.Stderr, "%d ended, %d wait, %d jobs settled\n", len(r.Ended), len(r.Waiting), len(r.Jobs))
	}
	return err
}

// giveUp ends the jobs of a host that is gone.
func (s *Setup) giveUp(ctx context.Context, i host.Invocation, o *govern.Operator) error {
	ended, err := o.GiveUp(ctx, s.flags.gone)
	for _, id := range slices.Sorted(maps.Keys(ended)) {
		fmt.Fprintf(i.Stdout, "%s %s\n", id, ended[id])
	}
	if err == nil {
		fmt.Fprintf(i.Stderr, "%d jobs given up\n", len(ended))
	}
	return err
}

// clean removes what no plan and no job needs.
func (s *Setup) clean(ctx context.Context, i host.Invocation) (err error) {
	if s.flags.keep < 0 {
		return &host.ExitError{Code: host.ExitUsage, Err: errors.New("clean: --keep is not below zero")}
	}
	o, service, err := s.operator(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	c, err := o.Clean(ctx, s.flags.keep)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(i.Stdout, "%d plans found expired, %d objects removed, %d plans forgotten, %d jobs cleaned\n", c.Expired, c.Objects, c.Forgotten, c.Jobs)
	return err
}

// newKey makes a key, and prints the line of the trust root for it.
func (s *Setup) newKey(_ context.Context, i host.Invocation) error {
	name := s.flags.name
	if name == "" {
		name = account()
	}
	public, err := approve.GenerateKey(i.Arguments[0])
	if err != nil {
		return err
	}
	fmt.Fprintln(i.Stderr, "The key is for you alone. For approvals with it to count, an administrator adds this line to the trust root:")
	_, err = fmt.Fprintln(i.Stdout, approve.FormatKey(public, uint32(os.Getuid()), name))
	return err
}

// agentKeys prints the lines of the trust root for the keys of an ssh-agent,
// each with its id before it.
func (s *Setup) agentKeys(ctx context.Context, i host.Invocation) error {
	if s.flags.agent == "" {
		return &host.ExitError{Code: host.ExitUsage, Err: errors.New("keys agent: say where it is with --ssh-agent SOCKET")}
	}
	name := s.flags.name
	if name == "" {
		name = account()
	}
	keys, err := approve.AgentKeys(ctx, s.flags.agent)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if _, err := fmt.Fprintf(i.Stdout, "# --agent-key %s\n%s\n", approve.KeyID(k), approve.FormatKey(k, uint32(os.Getuid()), name)); err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		return errors.New("the agent holds no Ed25519 key")
	}
	return nil
}

// listKeys prints whose approvals count.
func (s *Setup) listKeys(_ context.Context, i host.Invocation) error {
	if s.trust == "" {
		return &host.ExitError{Code: host.ExitUsage, Err: errors.New("keys list: say where the keys are with --trust-root FILE")}
	}
	path, err := filepath.Abs(s.trust)
	if err != nil {
		return err
	}
	trust, err := approve.OpenTrustRoot(path)
	if err != nil {
		return err
	}
	rows := [][]string{{"NAME", "UID", "KEY"}}
	for _, a := range trust.Approvers() {
		rows = append(rows, []string{a.Name, fmt.Sprint(a.UID), a.KeyID})
	}
	return table(i, rows)
}

// rotateKeys makes a new key for tokens.
func (s *Setup) rotateKeys(ctx context.Context, i host.Invocation) (err error) {
	o, service, err := s.operator(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	key, err := o.RotateKeys(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(i.Stdout, "tokens are issued with %s now; those of the keys before it are good until they expire\n", key)
	return err
}

// exportTrail prints the audit trail, a record a line.
func (s *Setup) exportTrail(ctx context.Context, i host.Invocation) (err error) {
	o, service, err := s.reader(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	for line, err := range o.Trail(ctx) {
		if err != nil {
			return err
		}
		if _, err := i.Stdout.Write(line); err != nil {
			return err
		}
	}
	return nil
}
