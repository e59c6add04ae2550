package cedar

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/resolved"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"
)

// This file is all that knows cedar-go's schema packages, which are
// experimental: when they change, it does.

type (
	recordType = resolved.RecordType
	setType    = resolved.SetType
	stringType = resolved.StringType
	longType   = resolved.LongType
	boolType   = resolved.BoolType
	anyType    = resolved.IsType
)

// readSchema returns the context of each action, and what checks a policy in
// strict mode.
func readSchema(text []byte) (contexts map[types.String]recordType, check func(types.PolicyID, *cedar.Policy) error, err error) {
	var s schema.Schema
	if err := s.UnmarshalCedar(text); err != nil {
		return nil, nil, fmt.Errorf("cedar: schema: %w", err)
	}
	r, err := s.Resolve()
	if err != nil {
		return nil, nil, fmt.Errorf("cedar: schema: %w", err)
	}
	contexts = make(map[types.String]recordType, len(r.Actions))
	for uid, action := range r.Actions {
		if uid.Type != actionType || action.AppliesTo == nil ||
			!slices.Equal(action.AppliesTo.Principals, []types.EntityType{subjectType}) || !slices.Equal(action.AppliesTo.Resources, []types.EntityType{capabilityType}) {
			return nil, nil, fmt.Errorf("cedar: schema: %s is no action that capgen generates", uid)
		}
		contexts[uid.ID] = action.AppliesTo.Context
	}
	if len(contexts) == 0 {
		return nil, nil, errors.New("cedar: the schema has no action: nothing would be permitted")
	}
	v := validate.New(r, validate.WithStrict())
	return contexts, func(id types.PolicyID, p *cedar.Policy) error {
		return v.Policy(string(id), (*ast.Policy)(p.AST()))
	}, nil
}

// readPolicies reads and checks all files, and reports all that is wrong.
func readPolicies(files map[string][]byte, check func(types.PolicyID, *cedar.Policy) error) (*cedar.PolicySet, error) {
	all, some := cedar.NewPolicySet(), false
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		set, err := cedar.NewPolicySetFromBytes(name, files[name])
		if err != nil {
			problems = append(problems, fmt.Errorf("cedar: %s: %w", name, err))
			continue
		}
		for id, p := range set.All() {
			id = types.PolicyID(name) + "#" + id
			if err := check(id, p); err != nil {
				at := p.Position()
				problems = append(problems, fmt.Errorf("cedar: %s:%d:%d: %w", name, at.Line, at.Column, err))
			}
			all.Add(id, p)
			some = true
		}
	}
	if len(problems) == 0 && !some {
		problems = append(problems, errors.New("cedar: no policy: nothing would be permitted"))
	}
	return all, errors.Join(problems...)
}
