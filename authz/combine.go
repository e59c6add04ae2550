package authz

import (
	"bytes"
	"context"
	"errors"
	"slices"
)

// All is an Authorizer that allows what each of the given ones allows. It asks
// them in their order, and what the first that does not allow says is its own
// answer. It panics without an authorizer, and at one that is nil: there is
// nothing that it could mean.
func All(members ...Authorizer) Authorizer { return allOf{checked("All", members)} }

// Any is an Authorizer that allows what one of the given ones allows, whatever
// the others say: a policy that forbids something belongs into All. It asks
// them in their order. Where none allows, it denies if all of them deny; else
// it fails as those did that failed. It panics as All does.
func Any(members ...Authorizer) Authorizer { return anyOf{checked("Any", members)} }

func checked(what string, members []Authorizer) []Authorizer {
	if len(members) == 0 || slices.Contains(members, nil) {
		panic("authz: " + what + " needs at least one authorizer, and none that is nil")
	}
	return slices.Clone(members)
}

type allOf struct{ members []Authorizer }

func (a allOf) Authorize(ctx context.Context, r Request) error {
	for i, m := range a.members {
		if err := ask(ctx, m, r, i+1 < len(a.members)); err != nil {
			return err
		}
	}
	return nil
}

// AllowsEverything tells whether all of its members do.
func (a allOf) AllowsEverything() bool {
	return !slices.ContainsFunc(a.members, func(m Authorizer) bool { return !AllowsEverything(m) })
}

// Preview is Deny if a member denies, Allow if all allow.
func (a allOf) Preview(ctx context.Context, s Subject, id string) Verdict {
	return combined(ctx, a.members, s, id, Deny, Allow)
}

type anyOf struct{ members []Authorizer }

func (a anyOf) Authorize(ctx context.Context, r Request) error {
	var denied, failed []error
	for i, m := range a.members {
		err := ask(ctx, m, r, i+1 < len(a.members))
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrDenied):
			denied = append(denied, err)
		default:
			failed = append(failed, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	// A failure must not look like a denial: it may have been about to allow.
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	return errors.Join(denied...)
}

// AllowsEverything tells whether one of its members does.
func (a anyOf) AllowsEverything() bool { return slices.ContainsFunc(a.members, AllowsEverything) }

// Preview is Allow if a member allows, Deny if all deny.
func (a anyOf) Preview(ctx context.Context, s Subject, id string) Verdict {
	return combined(ctx, a.members, s, id, Allow, Deny)
}

// ask gives a member a request of its own, unless it is the last to see it: a
// member that writes on the arguments must not change what the next one judges.
func ask(ctx context.Context, m Authorizer, r Request, another bool) error {
	if another {
		r.Arguments, r.Tags = bytes.Clone(r.Arguments), slices.Clone(r.Tags)
	}
	return m.Authorize(ctx, r)
}

// combined is decisive if one member says so, common if all do.
func combined(ctx context.Context, members []Authorizer, s Subject, id string, decisive, common Verdict) Verdict {
	verdict := common
	for _, m := range members {
		switch preview(ctx, m, s, id) {
		case decisive:
			return decisive
		case common:
		default:
			verdict = Depends
		}
	}
	return verdict
}

// preview is what a says, and Depends of one that says nothing.
func preview(ctx context.Context, a Authorizer, s Subject, id string) Verdict {
	if p, ok := a.(Previewer); ok {
		return p.Preview(ctx, s, id)
	}
	return Depends
}
