package cedar

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/capgen/capgen/authz"
)

// Options are what policies are made of.
type Options struct {
	// Schema is the generated policy/capabilities.cedarschema. Required.
	Schema []byte
	// Policies are texts in Cedar's language, by the name of their file.
	// Every one is checked against the schema, in strict mode.
	Policies map[string][]byte
}

const (
	subjectType    = types.EntityType("Subject")
	capabilityType = types.EntityType("Capability")
	actionType     = types.EntityType("Action")
)

// Authorizer decides by policies that do not change. It allows what Cedar
// allows: some policy permits the call, and none forbids it. A policy that
// cannot be evaluated is a policy failure, whatever the others say: a forbid
// that Cedar passes over must not let a call through. It is safe for concurrent
// use.
type Authorizer struct {
	policies *cedar.PolicySet
	contexts map[types.String]recordType
}

// New reads schema and policies. Its error names every policy that is wrong,
// with file, line and column.
func New(o Options) (*Authorizer, error) {
	contexts, check, err := readSchema(o.Schema)
	if err != nil {
		return nil, err
	}
	policies, err := readPolicies(o.Policies, check)
	if err != nil {
		return nil, err
	}
	return &Authorizer{policies, contexts}, nil
}

// Authorize decides one call. What it denies wraps authz.ErrDenied and names
// the policies that forbid it, if any do.
func (a *Authorizer) Authorize(ctx context.Context, r authz.Request) error {
	view, err := r.View()
	if err != nil {
		return fmt.Errorf("cedar: %w", err)
	}
	arguments, err := a.Context(r.ID, view)
	if err != nil {
		return err
	}
	request := types.Request{
		Principal: types.NewEntityUID(subjectType, types.String(r.Subject.String())),
		Action:    types.NewEntityUID(actionType, types.String(r.ID)),
		Resource:  types.NewEntityUID(capabilityType, types.String(r.ID)),
		Context:   arguments,
	}
	decision, diagnostic := cedar.Authorize(a.policies, entities(request, r), request)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(diagnostic.Errors) > 0:
		e := diagnostic.Errors[0]
		return fmt.Errorf("cedar: %s: %s", e.PolicyID, e.Message)
	case decision != types.Allow && len(diagnostic.Reasons) > 0:
		var by []string
		for _, reason := range diagnostic.Reasons {
			by = append(by, string(reason.PolicyID))
		}
		slices.Sort(by)
		return fmt.Errorf("cedar: forbidden by %s: %w", strings.Join(by, ", "), authz.ErrDenied)
	case decision != types.Allow:
		return fmt.Errorf("cedar: no policy permits it: %w", authz.ErrDenied)
	}
	return nil
}

// Preview is Deny for a capability without an action: every call of it fails.
// Of any other it depends.
func (a *Authorizer) Preview(_ context.Context, _ authz.Subject, id string) authz.Verdict {
	if _, ok := a.contexts[types.String(id)]; !ok {
		return authz.Deny
	}
	return authz.Depends
}

// entities are the two that a request names, as the schema declares them.
func entities(request types.Request, r authz.Request) types.EntityMap {
	subject := types.RecordMap{
		"kind":       types.String(r.Subject.Kind),
		"all_scopes": types.Boolean(r.Subject.Scopes.All()),
		"scopes":     texts(r.Subject.Scopes.Names()),
	}
	if r.Subject.Kind == authz.KindOIDC {
		subject["issuer"], subject["id"] = types.String(r.Subject.Issuer), types.String(r.Subject.ID)
	}
	return types.EntityMap{
		request.Principal: {UID: request.Principal, Attributes: types.NewRecord(subject)},
		request.Resource: {UID: request.Resource, Attributes: types.NewRecord(types.RecordMap{
			"name": types.String(r.Name), "effect": types.String(r.Effect), "idempotency": types.String(r.Idempotency), "world": types.String(r.World), "tags": texts(r.Tags),
		})},
	}
}

func texts(list []string) types.Set {
	values := make([]types.Value, len(list))
	for i, s := range list {
		values[i] = types.String(s)
	}
	return types.NewSet(values...)
}
