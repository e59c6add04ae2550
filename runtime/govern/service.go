package govern

import (
	"context"
	"time"
)

// Service holds plans and lands them. It may be used by several goroutines at a
// time, and several processes may have one over the same state.
type Service struct{}

// View is a plan as its owner, or an operator, sees it.
type View struct {
	Plan       string
	Hash       string
	Capability string // name
	Effect     string
	Status     string // prepared, consumed, expired, rejected, superseded, cancelled
	Reason     string // of rejected and cancelled
	// State is how far the landing has come: empty before, then landing, applied,
	// done, conflict, aborted, failed or unknown.
	State            string
	Created, Expires time.Time
	// Arguments are what it was prepared with, in canonical form.
	Arguments []byte
	// Root, Path, Summary and Actions are of a change, Preview of a call.
	Root, Path, Summary string
	Actions             []Action
	Preview             string
	// Approvals counts the approvals that the store holds, Min is how many are
	// needed. A landing may find that some of them do not count.
	Approvals, Min int
	Approval       string // the command by which an approver decides
	Separation     string
}

// Filter chooses plans of a subject.
type Filter struct {
	Status     string // empty is any
	Capability string // id or name; empty is any
	After      string // plan id of the last one before, as the page said
	Limit      int    // 1 to MaxPage; zero is DefaultPage
}

// Bounds of a page of plans.
const (
	DefaultPage = 50
	MaxPage     = 100
)

// Page is a part of a list of plans, newest first.
type Page struct {
	Plans []Summary
	Next  string // Filter.After for what follows; empty at the end
}

// Summary is a plan in a list.
type Summary struct {
	Plan, Capability, Status, State, Summary string
	Created, Expires                         time.Time
}

// Progress is how far a plan has come.
type Progress struct {
	Plan, Status, Reason, State string
	Expires                     time.Time
	Approvals, Min              int
	Tree                        string // of an applied change
	Output                      []byte // of a done call
}

func errNotYet() error {
	return refuse(Internal, "governed capabilities are not there yet in this version")
}

// PrepareChange freezes what plan returns, and what is there now, in a plan of
// the subject in ctx. arguments are canonical. The same key and arguments again
// are the same plan, and plan is not called.
func PrepareChange(ctx context.Context, s *Service, t Terms, arguments []byte, key string, plan func(context.Context) (Change, error)) (Prepared, error) {
	return Prepared{}, errNotYet()
}

// PrepareCall freezes arguments, and the preview if there is one, in a plan of
// the subject in ctx. preview may be nil.
func PrepareCall(ctx context.Context, s *Service, t Terms, arguments []byte, key string, preview func(context.Context) (Preview, error)) (Prepared, error) {
	return Prepared{}, errNotYet()
}

// ApplyChange lands a plan that people have approved.
func ApplyChange(ctx context.Context, s *Service, t Terms, c Claim) (Landed, error) {
	return Landed{}, errNotYet()
}

// ApplyCall lands a plan that people have approved: call is called once, ever.
// decode reads the canonical arguments of the plan; preview is nil where the
// plan has none; call returns its output in canonical form.
func ApplyCall[In any](ctx context.Context, s *Service, t Terms, c Claim,
	decode func([]byte) (In, error),
	preview func(context.Context, In) (Preview, error),
	call func(context.Context, Approved[In]) (output []byte, err error),
) (Landed, error) {
	return Landed{}, errNotYet()
}

// Show is a plan of the subject in ctx.
func (s *Service) Show(ctx context.Context, plan string) (View, error) { return View{}, errNotYet() }

// List are plans of the subject in ctx.
func (s *Service) List(ctx context.Context, f Filter) (Page, error) { return Page{}, errNotYet() }

// Status is how far a plan of the subject in ctx has come.
func (s *Service) Status(ctx context.Context, plan string) (Progress, error) {
	return Progress{}, errNotYet()
}

// Cancel takes a plan of the subject in ctx back, for good. One that is landing
// or has landed stays.
func (s *Service) Cancel(ctx context.Context, plan, reason string) (Progress, error) {
	return Progress{}, errNotYet()
}
