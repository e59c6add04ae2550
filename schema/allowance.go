package schema

const (
	maxAllowances = 1_000
	// maxReason is the longest reason, in code points.
	maxReason = 300
)

// allowances reads `lint: {allow: […]}`. They stand in the manifest and in no
// part: one list shows a reviewer everything that is accepted, and what an
// importer wrote is left as it is.
func (l *loader) allowances(n *node) []Allowance {
	if !l.mapping(n, &l.words.lint, "lint") {
		return nil
	}
	v := l.need(n, "allow", "lint", "allow is a list of {rule, target, reason}")
	if v == nil || !l.kind(v, listNode, "lint.allow") {
		return nil
	}
	if len(v.items) == 0 || len(v.items) > maxAllowances {
		l.errorf(v.pos, ruleLimit, "%d allowances, not 1 to %d", len(v.items), maxAllowances).hint("leave lint out where there are none")
		return nil
	}
	var all []Allowance
	first := make(map[[2]string]Position, len(v.items))
	for _, item := range v.items {
		if !l.mapping(item, &l.words.allowance, "an allowance") {
			continue
		}
		a := Allowance{Pos: item.pos}
		for _, field := range []struct {
			key, hint string
			max       int
			to        *string
		}{
			{"rule", "the id of a rule of lint, which stands in brackets behind its findings", maxName, &a.Rule},
			{"target", "what the findings are about: the name of a capability, types.NAME, server or programs", maxID, &a.Target},
			{"reason", "why it is accepted", maxReason, &a.Reason},
		} {
			if f := l.need(item, field.key, "an allowance", field.hint); f != nil {
				*field.to, _ = l.line(f, field.key+" of an allowance", field.max)
			}
		}
		key := [2]string{a.Rule, a.Target}
		if at, twice := first[key]; twice {
			l.errorf(item.pos, ruleBadValue, "%s is allowed twice for %s, first at %s", quote(a.Rule), quote(a.Target), at).
				hint("remove one of the two").related(at)
			continue
		}
		first[key] = item.pos
		all = append(all, a)
	}
	return all
}
