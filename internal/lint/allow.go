package lint

import (
	"slices"

	"github.com/capgen/capgen/internal/nearest"
)

// allow drops the findings that allowances accept. One that accepts nothing is
// a finding itself: it would hide the next mistake.
func (l *linter) allow() {
	accepted := make(map[[2]string]bool, len(l.Allowances))
	for _, a := range l.Allowances {
		accepted[[2]string{a.Rule, a.Target}] = false
	}
	l.findings = slices.DeleteFunc(l.findings, func(f Finding) bool {
		key := [2]string{f.Rule, f.Target}
		if _, ok := accepted[key]; !ok {
			return false
		}
		accepted[key] = true
		return true
	})
	for _, a := range l.Allowances {
		switch {
		case accepted[[2]string{a.Rule, a.Target}]:
		case l.levels[a.Rule] == "":
			hint := "remove it"
			if near := nearest.Name(a.Rule, ids()); near != "" {
				hint = "did you mean " + quote(near) + "?"
			}
			l.find("unused-allowance", a.Target, a.Pos, hint, "lint has no rule %s", quote(a.Rule))
		default:
			l.find("unused-allowance", a.Target, a.Pos, "remove it: it would hide the next finding",
				"rule %s finds nothing about %s", quote(a.Rule), quote(a.Target))
		}
	}
}
