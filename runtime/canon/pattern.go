package canon

import (
	"regexp"
	"sync"
)

// Pattern is an RE2 pattern compiled at its first use, so that a catalog of
// thousands costs nothing to start. It is safe for concurrent use and must
// not be copied after its first use.
type Pattern struct {
	// Expr is in the syntax of package regexp. It matches anywhere in the
	// string unless it says ^ or $.
	Expr string

	once     sync.Once
	compiled *regexp.Regexp
}

// MatchString tells whether s contains a match. An Expr that does not compile
// matches nothing: the generator has checked it, so a broken one fails closed.
func (p *Pattern) MatchString(s string) bool {
	p.once.Do(func() {
		if re, err := regexp.Compile(p.Expr); err == nil {
			p.compiled = re
		}
	})
	return p.compiled != nil && p.compiled.MatchString(s)
}
