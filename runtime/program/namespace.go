package program

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/internal/nearest"
	"github.com/capgen/capgen/runtime/fault"
)

// namespace is a value whose attributes are capabilities and namespaces below
// it. It holds nothing: each attribute is looked up in the table when a program
// names it, so that an unused capability costs nothing.
type namespace struct {
	engine *engine
	name   string // dotted
}

var (
	_ starlark.HasAttrs = (*namespace)(nil)
	_ starlark.Callable = (*namespace)(nil)
)

// Name implements starlark.Callable.
func (n *namespace) Name() string { return n.name }

// CallInternal refuses the call, which is meant for a capability.
func (n *namespace) CallInternal(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return nil, &raised{class: "TypeError", message: "'namespace' object is not callable",
		hint: "call what is in it: " + n.name + "." + strings.Join(n.AttrNames(), ", "+n.name+".")}
}

func (n *namespace) String() string        { return fmt.Sprintf("<namespace %s>", n.name) }
func (n *namespace) Type() string          { return "namespace" }
func (n *namespace) Freeze()               {}
func (n *namespace) Truth() starlark.Bool  { return true }
func (n *namespace) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: namespace") }

// Attr returns the capability or namespace of that name. An unknown one is the
// same answer whether it never existed or is disabled.
func (n *namespace) Attr(name string) (starlark.Value, error) {
	full := n.name + "." + name
	if c, err := n.engine.capability(full); err != nil {
		return nil, err
	} else if c != nil {
		return c.value, nil
	}
	if n.engine.isNamespace(full) {
		return &namespace{engine: n.engine, name: full}, nil
	}
	return nil, &nativeFailure{n.engine.unknownCapability(full)}
}

// AttrNames lists the direct members, sorted.
func (n *namespace) AttrNames() []string {
	var out []string
	names, prefix := n.engine.table.Names(), n.name+"."
	i, _ := slices.BinarySearch(names, prefix)
	for ; i < len(names) && strings.HasPrefix(names[i], prefix); i++ {
		member, _, _ := strings.Cut(names[i][len(prefix):], ".")
		if len(out) == 0 || out[len(out)-1] != member {
			out = append(out, member)
		}
	}
	return out
}

// unknownCapability is the fault for a dotted name that is no capability.
func (e *engine) unknownCapability(name string) *fault.Fault {
	f := &fault.Fault{
		Class:      fault.NotFound,
		Message:    "no capability " + excerpt(name),
		Hint:       "use search_api to find capabilities and describe_api for their parameters",
		Capability: excerpt(name),
	}
	if renamed := e.table.Renamed(name); renamed != "" {
		f.Message += ": it was renamed to " + renamed
	} else if near := nearest.Name(name, e.table.Names()); near != "" {
		f.Message += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return f
}
