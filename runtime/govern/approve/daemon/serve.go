package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/token"
)

// Bounds of connections. Each carries one request.
const (
	MaxConnections   = 64 // at a time, of accounts that are neither signers nor servers
	MaxOfOneAccount  = 8  // of these, of one of them
	MaxOfKnown       = 64 // of one signer or server: room of its own, whoever else crowds in
	defaultTimeout   = 10 * time.Second
	maxHeadBytes     = 4 << 10
	acceptRetryDelay = 50 * time.Millisecond
)

// Options of a daemon. Log and Now have no default.
type Options struct {
	Log *Log
	// Signers are the keys, by the account that may have them sign. Whoever else
	// connects can ask for envelopes, which are no secret.
	Signers map[uint32]approve.Signer
	// Servers are the accounts of those that land plans: they say what was spent,
	// and hand over heads of their audit logs.
	Servers []uint32
	// Heads keeps these; nil refuses them.
	Heads audit.HeadSink
	// Now is the time, in whole microseconds.
	Now func() token.Instant
	// Timeout bounds a connection, from its beginning to its end; zero is ten
	// seconds.
	Timeout time.Duration
	// Logger gets a line for every request, refused ones too; nil discards them.
	Logger *slog.Logger
}

// Serve answers at the listener until ctx ends, closes it, and returns when all
// connections have ended. Accounts are known by the kernel's word alone.
func Serve(ctx context.Context, listener *net.UnixListener, o Options) error {
	if o.Log == nil || o.Now == nil {
		return errors.New("daemon: Log and Now are not set")
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{Options: o, open: map[uint32]int{}}
	defer s.conns.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // before Wait: connections end with it
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	for {
		c, err := listener.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("daemon: serve: %w", err)
		case err != nil: // out of descriptors, perhaps for a moment
			s.Logger.Error("approval socket", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(acceptRetryDelay):
			}
			continue
		}
		s.accept(ctx, c)
	}
}

type server struct {
	Options
	conns sync.WaitGroup
	mu    sync.Mutex
	open  map[uint32]int // connections by account
	total int            // of accounts that are not known
}

// accept answers a connection, if its account has not too many.
func (s *server) accept(ctx context.Context, c *net.UnixConn) {
	uid, pid, err := peer(c)
	if err != nil || !s.enter(uid) {
		s.Logger.Warn("approval socket: connection refused", "uid", uid, "pid", pid, "err", err)
		c.Close()
		return
	}
	s.conns.Go(func() {
		defer s.leave(uid)
		defer c.Close()
		stop := context.AfterFunc(ctx, func() { c.Close() })
		defer stop()
		s.converse(ctx, c, uid, pid)
	})
}

// known tells whether the policy names an account.
func (s *server) known(uid uint32) bool {
	return s.Signers[uid] != nil || slices.Contains(s.Servers, uid)
}

func (s *server) enter(uid uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known(uid) {
		if s.open[uid] >= MaxOfKnown {
			return false
		}
	} else {
		if s.open[uid] >= MaxOfOneAccount || s.total >= MaxConnections {
			return false
		}
		s.total++
	}
	s.open[uid]++
	return true
}

func (s *server) leave(uid uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known(uid) {
		s.total--
	}
	if s.open[uid]--; s.open[uid] == 0 {
		delete(s.open, uid)
	}
}

// converse reads the one request of a connection and answers it.
func (s *server) converse(ctx context.Context, c *net.UnixConn, uid uint32, pid int32) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	if err := c.SetDeadline(deadline); err != nil {
		return
	}
	max := MaxMessage
	if s.Signers[uid] != nil {
		max = MaxPlanMessage
	}
	request, err := readFrame(c, max)
	if err != nil && !errors.Is(err, errMessage) {
		return // it said nothing, or not in time
	}
	var answer message
	if err == nil {
		answer, err = s.answer(ctx, request, uid)
	}
	attributes := []any{"op", request.op, "uid", uid, "pid", pid, "plan", request.plan}
	if err != nil {
		answer = refusal(err)
		s.Logger.Warn("approval socket: refused", append(attributes, "code", answer.code, "err", err)...)
	} else {
		s.Logger.Info("approval socket: done", append(attributes, "key", answer.key)...)
	}
	if err := writeFrame(c, answer); err != nil {
		s.Logger.Warn("approval socket: no answer", append(attributes, "err", err)...)
	}
}

var errForbidden = errors.New("daemon: not for this account")

// refusal is what a peer is told. Its own request may be spoken of; what is
// wrong with the daemon may not.
func refusal(err error) message {
	switch {
	case errors.Is(err, errForbidden):
		return message{code: codeForbidden, text: errForbidden.Error()}
	case errors.Is(err, approve.ErrSpent):
		return message{code: codeSpent, text: approve.ErrSpent.Error()}
	case errors.Is(err, approve.ErrUnspent):
		return message{code: codeUnspent, text: approve.ErrUnspent.Error()}
	case errors.Is(err, errFull):
		return message{code: codeFull, text: errFull.Error()}
	case errors.Is(err, errRequest), errors.Is(err, errMessage):
		return message{code: codeInvalid, text: err.Error()}
	}
	return message{code: codeInternal, text: "daemon: internal error"}
}

// errRequest is for requests that ask for what does not fit together.
var errRequest = errors.New("daemon: refused")

func (s *server) answer(ctx context.Context, m message, uid uint32) (message, error) {
	signer, lands := s.Signers[uid], slices.Contains(s.Servers, uid)
	switch m.op {
	case opEnvelopes:
		if !plan.ValidID(m.plan) {
			return message{}, fmt.Errorf("%w: not the id of a plan", errRequest)
		}
		return message{envelopes: s.Log.envelopes(m.plan)}, nil
	case opKey:
		if signer == nil {
			return message{}, errForbidden
		}
		return message{key: signer.KeyID()}, nil
	case opSign:
		if signer == nil {
			return message{}, errForbidden
		}
		return s.sign(ctx, m, uid, signer)
	case opSpend:
		if !lands {
			return message{}, errForbidden
		}
		if len(m.nonce) != 16 || !plan.ValidID(m.plan) {
			return message{}, fmt.Errorf("%w: not a nonce and the id of a plan", errRequest)
		}
		return message{}, s.Log.spend(entry{at: s.Now().Wall, uid: uid, nonce: [16]byte(m.nonce), plan: m.plan})
	case opBegin, opEnd:
		if !lands {
			return message{}, errForbidden
		}
		if !plan.ValidID(m.plan) {
			return message{}, fmt.Errorf("%w: not the id of a plan", errRequest)
		}
		landing := begun
		if m.op == opEnd {
			landing = ended
		}
		return message{}, s.Log.mark(entry{at: s.Now().Wall, uid: uid, plan: m.plan, landing: landing})
	case opHead:
		if !lands || s.Heads == nil {
			return message{}, errForbidden
		}
		if len(m.head) == 0 || len(m.head) > maxHeadBytes {
			return message{}, fmt.Errorf("%w: not a head", errRequest)
		}
		if err := s.Heads.Head(ctx, m.head); err != nil {
			return message{}, fmt.Errorf("%w: the head is not kept: %w", errRequest, err)
		}
		return message{}, nil
	}
	return message{}, fmt.Errorf("%w: no such operation", errRequest)
}

// sign signs a statement about the plan with the body that came with it, if the
// two fit, and the statement is of the peer and its key. The envelope is durable
// before the signature leaves.
func (s *server) sign(ctx context.Context, m message, uid uint32, signer approve.Signer) (message, error) {
	statement, err := approve.OpenPAE(m.pae)
	if err != nil {
		return message{}, fmt.Errorf("%w: %w", errRequest, err)
	}
	if statement.KeyID != signer.KeyID() || statement.Approver.UID != uid {
		return message{}, fmt.Errorf("%w: the statement is of another account, or another key", errRequest)
	}
	now := s.Now()
	if err := statement.Fits(m.body, now); err != nil {
		return message{}, fmt.Errorf("%w: %w", errRequest, err)
	}
	signature, err := signer.Sign(ctx, m.pae)
	if err != nil {
		return message{}, err
	}
	if err := s.Log.keep(entry{at: now.Wall, uid: uid, envelope: approve.Seal(statement, signature)}, statement.Plan, now.Wall); err != nil {
		return message{}, err
	}
	return message{key: signer.KeyID(), signature: signature}, nil
}
