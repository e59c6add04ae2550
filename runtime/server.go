package runtime

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/worker"
)

// Server answers searches, descriptions and executions over one immutable
// catalog. It is safe for concurrent use.
type Server struct {
	info       ServerInfo
	deployment string
	limits     Limits
	catalog    *catalog
	dispatcher *dispatcher
	runner     worker.Runner
	log        *slog.Logger
	audit      audit.Sink // nil records nothing
	hostKey    []byte
	strictMain bool // Options.RequireMain
	required   []Requirement
	admission  *admission

	workers Workers
	release func() error // of what workers run
}

func newServer(o Options, limits Limits, c *catalog, runner worker.Runner) *Server {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{
		info:       o.Server,
		deployment: o.Deployment,
		limits:     limits,
		catalog:    c,
		dispatcher: &dispatcher{catalog: c, authorizer: o.Authorizer, limits: limits, log: log},
		runner:     runner,
		log:        log,
		audit:      o.Audit,
		strictMain: o.RequireMain,
		admission:  newAdmission(limits),
		release:    func() error { return nil },
	}
}

// Info is what the server says of itself.
func (s *Server) Info() ServerInfo { return s.info }

// Deployment names the set of capabilities.
func (s *Server) Deployment() string { return s.deployment }

// Catalog is the SHA-256 of the enabled set's bindings, in hexadecimal.
func (s *Server) Catalog() string { return s.catalog.digest }

// Limits are the limits in force, defaults filled in.
func (s *Server) Limits() Limits { return s.limits }

// Capabilities is the number of enabled capabilities.
func (s *Server) Capabilities() int { return len(s.catalog.entries) }

// Hints are the annotations of execute: the join over the enabled catalog.
func (s *Server) Hints() Hints { return s.catalog.hints }

// Workers tells what runs programs, and what confines it.
func (s *Server) Workers() Workers { return s.workers }

// Close refuses new executions, kills the workers that still run and releases
// everything. It waits for handlers that ignore their context, but not longer
// than some seconds: its error says how many still run. Options.Audit comes
// last. It is idempotent.
func (s *Server) Close() error {
	s.admission.close()
	err := errors.Join(s.runner.Close(), s.release())
	if left := s.dispatcher.late.Drain(closeGrace); left > 0 {
		err = errors.Join(err, fmt.Errorf("runtime: %d handlers ignore that their timeout has ended them and still run", left))
	}
	if sink, ok := s.audit.(io.Closer); ok {
		err = errors.Join(err, sink.Close())
	}
	return err
}

// closeGrace is how long Close waits for handlers beyond their timeout.
const closeGrace = 5 * time.Second

func (s *Server) workerLimits() worker.Limits {
	return worker.Limits{
		Steps:       s.limits.MaxSteps,
		Calls:       int64(s.limits.MaxNativeCalls),
		Depth:       s.limits.MaxValueDepth,
		ValueBytes:  s.limits.MaxValueBytes,
		ResultBytes: s.limits.MaxIntermediateValueBytes,
		SourceBytes: s.limits.MaxSourceBytes,
		Parallel:    s.limits.MaxParallelCalls,
	}
}
