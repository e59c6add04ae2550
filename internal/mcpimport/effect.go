package mcpimport

import (
	"slices"

	"github.com/capgen/capgen/internal/verbs"
)

// proposal is what an importer may say of a tool's effect: a guess for a
// person to confirm, and why.
type proposal struct{ effect, because string }

// propose guesses an effect. The name's words are the only evidence that may
// speak for less than destroy, and only where nothing speaks against it: a
// name that begins or ends in a word for looking, and holds none for changing.
// The server's hints can make a proposal more dangerous, never less.
func propose(t *tool) proposal {
	name := verbs.Words(t.name)
	p := proposal{"destroy", "nothing says that it is harmless"}
	danger := slices.IndexFunc(name, verbs.Changes)
	switch {
	case danger >= 0:
		return proposal{"destroy", "its name says " + name[danger]}
	case slices.ContainsFunc(name, verbs.Adds):
		p = proposal{"write", "its name says that it adds"}
	default:
		if w, ok := verbs.Looks(name); ok {
			p = proposal{"read", "its name says " + w}
		}
	}
	if destructive, _ := t.claim("destructiveHint"); destructive && p.effect != "destroy" {
		return proposal{"destroy", "the server says that it is destructive"}
	}
	if _, changes := t.claim("readOnlyHint"); changes && p.effect == "read" {
		return proposal{"destroy", "the server says that it is not read-only"}
	}
	return p
}
