package schema

// References adds the named types that t refers to, by way of others too.
func References(t *Type, to map[*NamedType]bool) {
	if t == nil {
		return
	}
	if t.Kind == Ref && !to[t.Ref] {
		to[t.Ref] = true
		References(t.Ref.Type, to)
	}
	for _, p := range t.Properties {
		References(p.Type, to)
	}
	for _, v := range t.Variants {
		References(v, to)
	}
	References(t.Items, to)
}
