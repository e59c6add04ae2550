package runtime

// Declarations that the core brings; this file goes when it arrives.

import (
	"context"
	"encoding/json"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
)

type ServerInfo struct{ Name, Title, Version, Instructions string }

type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }

type SearchHit struct {
	Name      string `json:"name"`
	Signature string `json:"signature"`
	Summary   string `json:"summary"`
}

type NamespaceCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type SearchResult struct {
	Results    []SearchHit      `json:"results"`
	Truncated  bool             `json:"truncated"`
	Weak       bool             `json:"weak"`
	Namespaces []NamespaceCount `json:"namespaces"`
}

const MaxDescribeNames = 20

const MaxNameBytes = 64

type Description struct {
	Name        string          `json:"name"`
	Signature   string          `json:"signature"`
	Summary     string          `json:"summary"`
	Description string          `json:"description"`
	Effect      Effect          `json:"effect"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output"`
}

type DescribeResult struct {
	Capabilities []Description `json:"capabilities"`
	NotFound     []string      `json:"not_found"`
	Truncated    []string      `json:"truncated"`
}

type Execution struct {
	Result       []byte
	WideIntegers bool
	Receipt      Receipt
}

type Receipt struct {
	Execution      string       `json:"execution"`
	Deployment     string       `json:"deployment"`
	Catalog        string       `json:"catalog"`
	Calls          []CallRecord `json:"calls"`
	DurationMicros int64        `json:"duration_us"`
	Steps          int64        `json:"steps"`
}

type CallState string

const (
	CallNotDispatched CallState = "not_dispatched"
	CallDone          CallState = "done"
	CallFailed        CallState = "failed"
	CallUnknown       CallState = "unknown"
)

type CallRecord struct {
	Sequence       int         `json:"sequence"`
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	State          CallState   `json:"state"`
	DurationMicros int64       `json:"duration_us"`
	Error          fault.Class `json:"error,omitempty"`
}

type Server struct{}

func (s *Server) Info() ServerInfo   { panic("stub") }
func (s *Server) Deployment() string { panic("stub") }
func (s *Server) Hints() Hints       { panic("stub") }
func (s *Server) Search(ctx context.Context, subject authz.Subject, query string) (SearchResult, error) {
	panic("stub")
}
func (s *Server) Describe(ctx context.Context, subject authz.Subject, names []string) (DescribeResult, error) {
	panic("stub")
}
func (s *Server) Execute(ctx context.Context, subject authz.Subject, source string) (Execution, error) {
	panic("stub")
}
