package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/capgen/capgen/runtime/govern/approve"
)

// Client asks the daemon at a socket. It is an [approve.Source], an
// [audit.HeadSink], and makes signers. It may be used by several goroutines at a
// time.
type Client struct {
	path string
	uid  uint32
}

// Dial returns the client of the daemon at the socket path, which runs under the
// account uid: no other is believed. It connects for each request, so that a
// daemon may start later, and again.
func Dial(path string, uid uint32) *Client { return &Client{path, uid} }

// ErrForbidden is the error for what the daemon does not do for this account.
var ErrForbidden = errors.New("daemon: the daemon refuses that to this account")

// ask sends a request and returns the answer to it.
func (c *Client) ask(ctx context.Context, request message) (message, error) {
	answer, err := c.exchange(ctx, request)
	switch {
	case err != nil:
		return message{}, fmt.Errorf("daemon: %s: %w", request.op, err)
	case answer.code == codeForbidden:
		return message{}, fmt.Errorf("daemon: %s: %w", request.op, ErrForbidden)
	case answer.code == codeSpent:
		return message{}, fmt.Errorf("daemon: %s: %w", request.op, approve.ErrSpent)
	case answer.code == codeUnspent:
		return message{}, fmt.Errorf("daemon: %s: %w", request.op, approve.ErrUnspent)
	case answer.code != "":
		return message{}, fmt.Errorf("daemon: %s: the daemon refuses it: %s: %q", request.op, answer.code, answer.text)
	}
	return answer, nil
}

func (c *Client) exchange(ctx context.Context, request message) (message, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.path)
	if err != nil {
		return message{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	// Whoever else listens there would say that everything was spent well.
	uid, _, err := peer(conn.(*net.UnixConn))
	if err != nil {
		return message{}, err
	}
	if uid != c.uid {
		return message{}, fmt.Errorf("account %d listens at %s, not %d", uid, c.path, c.uid)
	}
	if err := writeFrame(conn, request); err != nil {
		return message{}, err
	}
	return readFrame(conn, maxAnswer)
}

// Envelopes are those that the daemon made for a plan.
func (c *Client) Envelopes(ctx context.Context, plan string) ([][]byte, error) {
	answer, err := c.ask(ctx, message{op: opEnvelopes, plan: plan})
	return answer.envelopes, err
}

// Spend has the daemon remember that an approval was spent on a plan. For that
// this account is one of its servers.
func (c *Client) Spend(ctx context.Context, nonce [16]byte, plan string) error {
	_, err := c.ask(ctx, message{op: opSpend, nonce: nonce[:], plan: plan})
	return err
}

// Begin has the daemon remember that the landing of a plan is committed. For
// that this account is one of its servers.
func (c *Client) Begin(ctx context.Context, plan string) error {
	_, err := c.ask(ctx, message{op: opBegin, plan: plan})
	return err
}

// End has the daemon remember that the landing of a plan has come to its end.
// For that this account is one of its servers.
func (c *Client) End(ctx context.Context, plan string) error {
	_, err := c.ask(ctx, message{op: opEnd, plan: plan})
	return err
}

// Head hands over a signed head of an audit log. For that this account is one of
// the daemon's servers.
func (c *Client) Head(ctx context.Context, signed []byte) error {
	_, err := c.ask(ctx, message{op: opHead, head: signed})
	return err
}

// Signer is this account's, for statements about the plan with this body, which
// the daemon compares them with.
func (c *Client) Signer(ctx context.Context, body []byte) (approve.Signer, error) {
	answer, err := c.ask(ctx, message{op: opKey})
	if err != nil {
		return nil, err
	}
	return &signer{c, body, answer.key}, nil
}

type signer struct {
	client *Client
	body   []byte
	key    string
}

func (s *signer) KeyID() string { return s.key }

func (s *signer) Sign(ctx context.Context, pae []byte) ([]byte, error) {
	answer, err := s.client.ask(ctx, message{op: opSign, body: s.body, pae: pae})
	return answer.signature, err
}
