// Package hints derives the four MCP tool annotations from what a manifest
// declares, for the server and for whoever reads a manifest. It must never be
// given an annotation that somebody typed.
package hints

// Hints are the annotations of one tool, or the join over several.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }

// Of is that of a capability as programs call it, by the words for effect,
// idempotency and world. An effect that is not known is destructive, and a world
// that is not known is open: what MCP takes for granted where nothing is said.
func Of(effect, idempotency, world string) Hints {
	return Hints{
		ReadOnly:    effect == "read",
		Destructive: effect != "read" && effect != "write",
		Idempotent:  effect == "read" || idempotency == "natural" || idempotency == "key",
		OpenWorld:   world != "closed",
	}
}

// Join is the hint of a tool that may call both: harmless only if both are.
func (h Hints) Join(o Hints) Hints {
	return Hints{
		ReadOnly:    h.ReadOnly && o.ReadOnly,
		Destructive: h.Destructive || o.Destructive,
		Idempotent:  h.Idempotent && o.Idempotent,
		OpenWorld:   h.OpenWorld || o.OpenWorld,
	}
}
