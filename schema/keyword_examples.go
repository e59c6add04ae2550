package schema

import (
	"errors"
	"fmt"

	"github.com/capgen/capgen/runtime/canon"
)

const (
	// maxShown is how many examples one schema may give.
	maxShown = 16
	// maxShownBytes is how long one of them may be, in canonical form.
	maxShownBytes = 4 << 10
)

// shownValues are the examples of one schema, which wait until all types are
// lowered.
type shownValues struct {
	*Type
	list *node
}

// showValues remembers the keyword examples of n, which t is lowered from.
func (l *loader) showValues(t *Type, n *node) {
	v := n.get("examples")
	if v == nil || !l.kind(v, listNode, "examples") {
		return
	}
	if len(v.items) == 0 || len(v.items) > maxShown {
		l.errorf(v.pos, ruleLimit, "%d examples, not 1 to %d", len(v.items), maxShown).hint("a few tell what is meant; leave examples out where there are none")
		return
	}
	s := &shownValues{t, v}
	l.shownOf[t] = s
	l.shown = append(l.shown, s)
}

// showWithNull lets the examples of t be those of outer, which is t or null.
func (l *loader) showWithNull(t, outer *Type) {
	if s := l.shownOf[t]; s != nil {
		s.Type = outer
	}
}

// checkShown checks the examples of every schema against it, and stores them
// in canonical form. It returns false if one is too large to be stored.
func (l *loader) checkShown() bool {
	l.use = useExample
	good := true
	for _, s := range l.shown {
		for i, item := range s.list.items {
			good = l.checkValue(s.Type, item, fmt.Sprintf("examples[%d]", i)) && good
		}
	}
	if !good || l.failed {
		return true // reported; writing relies on every value being right
	}
	total := 0
	for _, s := range l.shown {
		for _, item := range s.list.items {
			w := canon.NewCanonicalWriter(nil)
			w.Limit(l.limits.valueDepth, maxShownBytes)
			l.writeValue(w, s.Type, item)
			var refused *canon.Error
			switch err := w.Err(); {
			case errors.As(err, &refused) && refused.Code == canon.CodeSize:
				l.errorf(item.pos, ruleTooLarge, "an example of more than %d bytes", maxShownBytes).hint("show less")
				return false
			case err != nil:
				l.errorf(item.pos, ruleBadExample, "%s", plain(err.Error(), maxPlain)).hint("change the example")
				return false
			}
			s.Examples = append(s.Examples, string(w.Bytes()))
			if total += len(w.Bytes()); total > l.limits.textBytes {
				l.errorf(item.pos, ruleTooLarge, "the examples of schemas have more than %d bytes together", l.limits.textBytes).hint("show fewer")
				return false
			}
		}
	}
	return true
}
