package operate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/review"
	"github.com/capgen/capgen/runtime/host"
)

// patience is how long the terminal is waited for.
const patience = 15 * time.Minute

// approve shows a plan on the terminal, asks for random words there, and signs.
func (s *Setup) approve(ctx context.Context, i host.Invocation) error {
	return s.decide(ctx, i, approve.Approve)
}

// reject is approve's opposite: it ends the plan.
func (s *Setup) reject(ctx context.Context, i host.Invocation) error {
	if s.flags.reason == "" {
		return &host.ExitError{Code: host.ExitUsage, Err: errors.New("reject: say why with --reason")}
	}
	return s.decide(ctx, i, approve.Reject)
}

func (s *Setup) decide(ctx context.Context, i host.Invocation, purpose approve.Purpose) (err error) {
	if s.flags.agentKey != "" {
		s.flags.key = "" // of the variable, or the daemon's: the line says it
	} else if s.flags.key == "" && s.socket == "" {
		return &host.ExitError{Code: host.ExitUsage, Err: fmt.Errorf("%s: say who signs: --key FILE, which keys new makes, or --approval-daemon SOCKET; or CAPGEN_APPROVAL_KEY, or CAPGEN_APPROVAL_DAEMON", purpose)}
	}
	// The daemon keeps what it signs; a key's signature goes into the store.
	open := s.operator
	if !s.signsHere() {
		open = s.reader
	}
	o, service, err := open(ctx, i)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	id := i.Arguments[0]
	v, err := o.Show(ctx, id)
	if err != nil {
		return err
	}
	if v.Status != "prepared" {
		return fmt.Errorf("nothing is to be decided: the plan is %s", v.Status)
	}
	body, err := o.Body(ctx, id)
	if err != nil {
		return err
	}
	p, err := plan.Parse(body)
	if err != nil {
		return err
	}
	signer, err := s.signer(ctx, body)
	if err != nil {
		return err
	}
	shown, err := ask(ctx, purpose, id, body, o)
	if err != nil {
		return err
	}
	statement := approve.Statement{
		Purpose: purpose, Plan: id, PlanHash: plan.HashOf(body), PolicyHash: p.Policy.Hash(), Store: o.Store(),
		Approver: approve.Account{UID: uint32(os.Getuid()), User: account()},
		Issued:   govern.Now(), TTL: p.Policy.TTL, Shown: shown, Reason: s.flags.reason,
	}
	rand.Read(statement.Nonce[:])
	envelope, err := approve.Sign(ctx, signer, statement)
	if err != nil {
		return err
	}
	if s.signsHere() {
		if err := o.AddEnvelope(ctx, id, envelope); err != nil {
			return err
		}
	}
	done := "approved"
	if purpose == approve.Reject {
		done = "rejected"
	}
	_, err = fmt.Fprintf(i.Stdout, "%s %s as %s (key %.16s)\n", done, id, statement.Approver.User, signer.KeyID())
	return err
}

// signsHere tells that the signature goes into the store: it is none that a
// daemon keeps.
func (s *Setup) signsHere() bool { return s.flags.key != "" || s.flags.agentKey != "" }

// signer is the ssh-agent's, the key file's, or the daemon's.
func (s *Setup) signer(ctx context.Context, body []byte) (approve.Signer, error) {
	if s.flags.agentKey != "" {
		if s.flags.agent == "" {
			return nil, errors.New("no ssh-agent: say where it is with --ssh-agent SOCKET")
		}
		return approve.OpenAgent(ctx, s.flags.agent, s.flags.agentKey)
	}
	if s.flags.key != "" {
		return approve.OpenKey(s.flags.key)
	}
	client, err := s.daemon()
	if err != nil {
		return nil, err
	}
	return client.Signer(ctx, body)
}

// ask shows the plan on the terminal and has it confirmed there; it returns the
// hash of what it showed. A run whose program is not here as the plan says may be
// rejected, and not approved.
func ask(ctx context.Context, purpose approve.Purpose, id string, body []byte, o *govern.Operator) (shown [sha256.Size]byte, err error) {
	terminal, err := review.OpenTerminal()
	if err != nil {
		return shown, fmt.Errorf("decisions are made at a terminal: %w", err)
	}
	defer func() { err = errors.Join(err, terminal.Close()) }()
	shown, err = review.Render(terminal, body, o.Object, review.Program)
	if err != nil && (purpose == approve.Approve || !errors.Is(err, review.ErrProgram)) {
		return shown, err
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if err := terminal.Confirm(ctx, string(purpose)+" "+id); err != nil {
		if errors.Is(err, review.ErrNotConfirmed) {
			err = &host.ExitError{Code: host.ExitUsage, Err: err}
		}
		return shown, err
	}
	return shown, nil
}
