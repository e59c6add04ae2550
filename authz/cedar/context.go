package cedar

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
)

const isNull = "_isnull"

// Context is what policies see of a call's arguments, of which arguments is the
// view: authz.Request.View. An error means that there is no such context, and
// that no policy may decide: the capability has no action, or the arguments are
// not those that the schema declares.
func (a *Authorizer) Context(id string, arguments map[string]any) (types.Record, error) {
	declared, ok := a.contexts[types.String(id)]
	if !ok {
		return types.Record{}, fmt.Errorf("cedar: the schema has no action %q: not all that a manifest can say has an image in Cedar", id)
	}
	r, err := record(declared, arguments)
	if err != nil {
		return types.Record{}, fmt.Errorf("cedar: %s: the arguments are not what the schema declares: %w", id, err)
	}
	return r, nil
}

// record is the image of an object. x_isnull, which an object with x never has
// itself, tells whether x is null.
func record(declared recordType, members map[string]any) (types.Record, error) {
	out := make(types.RecordMap, len(declared))
	for name, attribute := range declared {
		v, there := members[string(name)]
		of, marks := strings.CutSuffix(string(name), isNull)
		if _, nullable := declared[types.String(of)]; marks && nullable && !there {
			if v, there = members[of]; there {
				out[name] = types.Boolean(v == nil)
			}
			continue
		}
		_, nullable := declared[name+isNull]
		switch {
		case there && v == nil && nullable, !there && attribute.Optional:
			continue
		case !there:
			return types.Record{}, fmt.Errorf("%s is missing", name)
		}
		image, err := value(attribute.Type, v)
		if err != nil {
			return types.Record{}, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = image
	}
	for name := range members {
		if _, ok := declared[types.String(name)]; !ok {
			return types.Record{}, fmt.Errorf("%.64q is not declared", name)
		}
	}
	return types.NewRecord(out), nil
}

func value(declared anyType, v any) (types.Value, error) {
	switch declared := declared.(type) {
	case stringType:
		switch v := v.(type) {
		case string:
			return types.String(v), nil
		case float64: // in the form that canonical JSON gives it
			text, err := json.Marshal(v)
			return types.String(text), err
		}
	case longType:
		switch v := v.(type) {
		case int64:
			return types.Long(v), nil
		case string: // an integer of 64 bits
			i, err := strconv.ParseInt(v, 10, 64)
			return types.Long(i), err
		}
	case boolType:
		if b, ok := v.(bool); ok {
			return types.Boolean(b), nil
		}
	case recordType:
		switch v := v.(type) {
		case map[string]any:
			return record(declared, v)
		case []any:
			return list(declared, v)
		}
	case setType:
		pair, isPair := declared.Element.(recordType)
		if members, ok := v.(map[string]any); ok && isPair {
			var pairs []types.Value
			for key, v := range members {
				r, err := record(pair, map[string]any{"key": key, "value": v})
				if err != nil {
					return nil, err
				}
				pairs = append(pairs, r)
			}
			return types.NewSet(pairs...), nil
		}
	}
	return nil, fmt.Errorf("a %T where %T is declared", v, declared)
}

// list is the image of an array: its length, its items by index, and of
// scalars the set of them.
func list(declared recordType, items []any) (types.Value, error) {
	at, ok := declared["at"].Type.(setType)
	if !ok {
		return nil, fmt.Errorf("a list where an object is declared")
	}
	indexed, ok := at.Element.(recordType)
	if !ok {
		return nil, fmt.Errorf("a list where an object is declared")
	}
	out := types.RecordMap{"length": types.Long(len(items))}
	pairs := make([]types.Value, len(items))
	for i, item := range items {
		r, err := record(indexed, map[string]any{"index": int64(i), "item": item})
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		pairs[i] = r
	}
	out["at"] = types.NewSet(pairs...)
	if set, ok := declared["items"].Type.(setType); ok {
		var values []types.Value
		for _, item := range items {
			if item == nil {
				continue
			}
			v, err := value(set.Element, item)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		out["items"] = types.NewSet(values...)
	}
	return types.NewRecord(out), nil
}
