package wire

import (
	"context"
	"maps"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern"
)

// Codes are those with which govern refuses. Capabilities that declare errors
// disclose them beside their own.
func Codes() []runtime.ErrorCode {
	var codes []runtime.ErrorCode
	for _, c := range govern.Codes() {
		codes = append(codes, runtime.ErrorCode(c))
	}
	return codes
}

// Decoder is implemented by the pointer to a generated type.
type Decoder[T any] interface {
	*T
	Decode(r *canon.Reader) error
}

// Decode reads canonical JSON strictly.
func Decode[T any, P Decoder[T]](text []byte) (T, error) {
	var v T
	r := canon.NewJSONReader(text, runtime.DefaultMaxValueDepth)
	if err := P(&v).Decode(r); err != nil {
		return v, err
	}
	return v, r.End()
}

// Encoder is implemented by the pointer to a generated type.
type Encoder[T any] interface {
	*T
	Encode(w *canon.Writer)
}

// Encode is what a handler returned, as canonical JSON; an output that breaks
// its schema is an error.
func Encode[T any, P Encoder[T]](v T, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	w := canon.NewCanonicalWriter(nil)
	P(&v).Encode(w)
	return w.Bytes(), w.End()
}

// Coder is implemented by the pointer to a generated type.
type Coder[T any] interface {
	*T
	Decode(r *canon.Reader) error
	Encode(w *canon.Writer)
}

// Result checks what a run came to against its schema, and returns the canonical
// JSON of it. What run.result could not answer with does not hold: a run that has
// succeeded has a result.
func Result[T any, P Coder[T]](text []byte) ([]byte, error) {
	v, err := Decode[T, P](text)
	canonical, err := Encode[T, P](v, err)
	if err == nil {
		err = answerable(canonical)
	}
	if err != nil {
		return nil, err
	}
	return canonical, nil
}

// Results are those of several namespaces. A capability is in one of them.
func Results(all ...map[string]func([]byte) ([]byte, error)) map[string]func([]byte) ([]byte, error) {
	out := make(map[string]func([]byte) ([]byte, error))
	for _, some := range all {
		maps.Copy(out, some)
	}
	return out
}

// Claim is what a start hands in.
func (v *StartInput) Claim() govern.Claim {
	return govern.Claim{Plan: v.Plan, Token: v.Token, Key: v.Key, Approval: v.Approval.Value}
}

// Claim is what an apply hands in.
func (v *ApplyInput) Claim() govern.Claim {
	return govern.Claim{Plan: v.Plan, Token: v.Token, Key: v.Key, Approval: v.Approval.Value}
}

// Prepared is what prepare answers.
func Prepared(p govern.Prepared, err error) (PrepareOutput, error) {
	if err != nil {
		return PrepareOutput{}, err
	}
	out := PrepareOutput{
		Plan: p.Plan, Hash: p.Hash, Token: p.Token, Expires: canon.NewDateTime(p.Expires.UTC()),
		Approval: p.Approval, Separation: p.Separation,
	}
	for _, a := range p.Actions {
		out.Actions = append(out.Actions, PrepareOutputActionsItem{
			Path: a.Path, Action: a.Action, Before: given(a.Before), After: given(a.After), Mode: a.Mode,
		})
	}
	return out, nil
}

// Landed is what apply answers of a change.
func Landed(l govern.Landed, err error) (ApplyOutput, error) {
	if err != nil {
		return ApplyOutput{}, err
	}
	return ApplyOutput{Plan: l.Plan, State: l.State, Tree: given(l.Tree)}, nil
}

// Started is what start answers.
func Started(s govern.Started, err error) (StartOutput, error) {
	if err != nil {
		return StartOutput{}, err
	}
	return StartOutput{Job: s.Job, Plan: s.Plan, State: s.State}, nil
}

// Output is what the call of a landing returned; absent while it has not. Of an
// error it is absent as well.
func Output[T any, P Decoder[T]](l govern.Landed, err error) (canon.Optional[T], error) {
	if err != nil || l.Output == nil {
		return canon.Optional[T]{}, err
	}
	v, err := Decode[T, P](l.Output)
	return canon.Some(v), err
}

// Show answers change.show.
func Show(g *govern.Service) func(context.Context, ShowInput) (ShowOutput, error) {
	return func(ctx context.Context, in ShowInput) (ShowOutput, error) {
		v, err := g.Show(ctx, in.Plan)
		if err != nil {
			return ShowOutput{}, err
		}
		out := ShowOutput{
			Plan: v.Plan, Hash: v.Hash, Capability: v.Capability, Effect: v.Effect,
			Status: v.Status, Reason: given(v.Reason), State: given(v.State),
			Created: canon.NewDateTime(v.Created.UTC()), Expires: canon.NewDateTime(v.Expires.UTC()),
			Root: given(v.Root), Path: given(v.Path), Summary: given(v.Summary), Preview: given(v.Preview),
			Approvals: int64(v.Approvals), Min: int64(v.Min), Approval: v.Approval, Separation: v.Separation,
		}
		for _, a := range v.Actions {
			out.Actions = append(out.Actions, ShowOutputActionsItem{
				Path: a.Path, Action: a.Action, Before: given(a.Before), After: given(a.After), Mode: a.Mode,
			})
		}
		out.Arguments, err = canon.ParseOpaque(v.Arguments)
		return out, err
	}
}

// List answers change.list.
func List(g *govern.Service) func(context.Context, ListInput) (ListOutput, error) {
	return func(ctx context.Context, in ListInput) (ListOutput, error) {
		page, err := g.List(ctx, govern.Filter{
			Status: string(in.Status.Value), Capability: in.Capability.Value, After: in.After.Value, Limit: int(in.Limit),
		})
		if err != nil {
			return ListOutput{}, err
		}
		out := ListOutput{Next: given(page.Next)}
		for _, p := range page.Plans {
			out.Plans = append(out.Plans, ListOutputPlansItem{
				Plan: p.Plan, Capability: p.Capability, Status: p.Status, State: given(p.State), Summary: given(p.Summary),
				Created: canon.NewDateTime(p.Created.UTC()), Expires: canon.NewDateTime(p.Expires.UTC()),
			})
		}
		return out, nil
	}
}

// Status answers change.status.
func Status(g *govern.Service) func(context.Context, StatusInput) (StatusOutput, error) {
	return func(ctx context.Context, in StatusInput) (StatusOutput, error) {
		p, err := g.Status(ctx, in.Plan)
		if err != nil {
			return StatusOutput{}, err
		}
		out := StatusOutput{
			Plan: p.Plan, Status: p.Status, Reason: given(p.Reason), State: given(p.State),
			Expires: canon.NewDateTime(p.Expires.UTC()), Approvals: int64(p.Approvals), Min: int64(p.Min), Tree: given(p.Tree),
		}
		if p.Output != nil {
			output, err := canon.ParseOpaque(p.Output)
			if err != nil {
				return StatusOutput{}, err
			}
			out.Output = canon.Some(output)
		}
		return out, nil
	}
}

// Cancel answers change.cancel.
func Cancel(g *govern.Service) func(context.Context, CancelInput) (CancelOutput, error) {
	return func(ctx context.Context, in CancelInput) (CancelOutput, error) {
		p, err := g.Cancel(ctx, in.Plan, in.Reason.Value)
		if err != nil {
			return CancelOutput{}, err
		}
		return CancelOutput{Plan: p.Plan, Status: p.Status}, nil
	}
}

// given is a text that is absent when it is empty.
func given(s string) canon.Optional[string] {
	return canon.Optional[string]{Value: s, Present: s != ""}
}
