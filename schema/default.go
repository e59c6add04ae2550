package schema

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/canon"
)

// checkDefaults checks every default against the type it belongs to and
// stores it in canonical form, with the defaults of properties inside it
// filled in: what a handler gets is what is written here. It returns false if
// one is too large to be stored.
func (l *loader) checkDefaults() bool {
	total := 0
	good := make([]*Property, 0, len(l.defaults))
	for _, p := range l.defaults {
		what := "default"
		l.use = useDefault
		if p.Fixed {
			what = "fixed " + p.Name
			l.use = useFixed
		}
		if l.checkValue(p.Type, l.defaultOf[p], what) {
			good = append(good, p)
		}
	}
	if l.failed {
		// Filling in needs every inner default to be right.
		return true
	}
	for _, p := range good {
		n := l.defaultOf[p]
		w := canon.NewCanonicalWriter(nil)
		w.Limit(l.limits.valueDepth, l.limits.defaultBytes)
		l.writeValue(w, p.Type, n)
		var refused *canon.Error
		switch err := w.Err(); {
		case errors.As(err, &refused) && refused.Code == canon.CodeSize:
			l.errorf(n.pos, ruleTooLarge, "a default of more than %d bytes, defaults inside it included", l.limits.defaultBytes).
				hint("leave it out and fill it in the handler")
			return false
		case err != nil:
			// The two checks must agree; if they ever do not, the default
			// is refused rather than stored.
			l.errorf(n.pos, ruleBadDefault, "%s", plain(err.Error(), maxPlain)).hint("change the default")
			return false
		}
		text := w.Bytes()
		if total += len(text); total > l.limits.textBytes {
			l.errorf(n.pos, ruleTooLarge, "the defaults have more than %d bytes together", l.limits.textBytes).
				hint("leave large ones out and fill them in the handler")
			return false
		}
		p.Default = string(text)
	}
	return true
}

// checkValue reports where n is no value of type t.
func (l *loader) checkValue(t *Type, n *node, what string) bool {
	if t == nil || n.kind == invalidNode {
		return false
	}
	if t.Kind == Opaque {
		return l.checkOpaque(n, what)
	}
	if t.Kind == Union {
		return l.checkUnion(t, n, what)
	}
	bad := func(format string, args ...any) bool {
		l.errorf(n.pos, l.use.rule(), "%s: %s", what, fmt.Sprintf(format, args...)).
			hint("change the %s or the schema", l.use)
		return false
	}
	expected := func(want nodeKind) bool {
		return n.kind == want || bad("expected %s, got %s", article(t.Kind), n.kind)
	}
	switch t.Kind {
	case Ref:
		return l.checkValue(t.Ref.Type, n, what)
	case Nullable:
		return n.kind == nullNode || l.checkValue(t.Items, n, what)
	case Boolean:
		return expected(boolNode) && (t.Const == "" || n.text == t.Const || bad("%s is not %s", n.text, t.Const))
	case String:
		if !expected(stringNode) || !l.visible(n.pos, n.text, what) {
			return false
		}
		return l.checkString(t, n, what, bad)
	case Bytes:
		return expected(stringNode) && l.checkBytes(t, n, bad)
	case Integer, Int64:
		if !expected(numberNode) {
			return false
		}
		i, ok := parseInteger(n.text)
		switch {
		case !ok:
			return bad("%s is no integer within 64 bits", plain(n.text, maxQuoted))
		case i < t.Minimum || i > t.Maximum:
			return bad("%d is not between %d and %d", i, t.Minimum, t.Maximum)
		case t.MultipleOf != "":
			if m, _ := strconv.ParseInt(t.MultipleOf, 10, 64); m > 0 && i%m != 0 {
				return bad("%d is no multiple of %s", i, t.MultipleOf)
			}
		}
		return true
	case Number:
		if !expected(numberNode) {
			return false
		}
		return l.checkNumber(t, n, what, bad)
	case Array:
		if !expected(listNode) {
			return false
		}
		if c := len(n.items); c < t.MinItems || c > t.MaxItems {
			return bad("%d items, not between %d and %d", c, t.MinItems, t.MaxItems)
		}
		fine := true
		for i, item := range n.items {
			fine = l.checkValue(t.Items, item, fmt.Sprintf("%s[%d]", what, i)) && fine
		}
		return fine && l.checkUnique(t, n, bad)
	case Map:
		return expected(mappingNode) && l.checkMap(t, n, what, bad)
	case FreeObject:
		return expected(mappingNode) && l.checkFree(n, what)
	case Object:
		return expected(mappingNode) && l.checkObject(t, n, what)
	}
	return false
}

func (l *loader) checkString(t *Type, n *node, what string, bad func(string, ...any) bool) bool {
	if t.Enum != nil && !t.Open {
		if slices.Contains(t.Enum, n.text) {
			return true
		}
		f := l.errorf(n.pos, l.use.rule(), "%s: %s is not in the enum", what, quote(n.text)).hint("choose one of its values")
		l.nearest(f, n.text, t.Enum)
		return false
	}
	if c := utf8.RuneCountInString(n.text); c < t.MinLength || c > t.MaxLength {
		return bad("%d characters, not between %d and %d", c, t.MinLength, t.MaxLength)
	}
	if t.Format != "" && !canon.Format(t.Format).Valid(n.text) {
		return bad("%s does not have the format %s", quote(n.text), t.Format)
	}
	if t.Pattern != "" {
		// An error here is reported where the pattern stands.
		if re, err := regexp.Compile(t.Pattern); err != nil || !re.MatchString(n.text) {
			return bad("%s does not match the pattern", quote(n.text))
		}
	}
	return true
}

func (l *loader) checkNumber(t *Type, n *node, what string, bad func(string, ...any) bool) bool {
	f, ok := l.exactNumber(n, what)
	if !ok {
		return false
	}
	if t.NumberMin != "" {
		if low, _ := strconv.ParseFloat(t.NumberMin, 64); f < low || t.ExclusiveMin && f == low {
			return bad("%s is below %s", formatNumber(f), bound(t.NumberMin, t.ExclusiveMin))
		}
	}
	if t.NumberMax != "" {
		if high, _ := strconv.ParseFloat(t.NumberMax, 64); f > high || t.ExclusiveMax && f == high {
			return bad("%s is above %s", formatNumber(f), bound(t.NumberMax, t.ExclusiveMax))
		}
	}
	if t.MultipleOf != "" && !isMultiple(f, t.MultipleOf) {
		return bad("%s is no multiple of %s", formatNumber(f), t.MultipleOf)
	}
	return true
}

func (l *loader) checkObject(t *Type, n *node, what string) bool {
	fine := true
	names := make([]string, 0, len(t.Properties))
	for _, p := range t.Properties {
		names = append(names, p.Name)
		v := n.get(p.Name)
		if v != nil {
			fine = l.checkValue(p.Type, v, what+"."+p.Name) && fine
		} else if p.Required {
			l.errorf(n.pos, l.use.rule(), "%s: %s is required and missing", what, quote(p.Name)).hint("write it")
			fine = false
		}
	}
	for _, m := range n.members {
		if !slices.Contains(names, m.key) {
			f := l.errorf(m.pos, l.use.rule(), "%s: %s is no property", what, quote(m.key)).hint("remove it")
			l.nearest(f, m.key, names)
			fine = false
		}
	}
	return fine
}

// writeValue writes a checked value in canonical form. It stops at the
// writer's first error: defaults inside defaults may add up to any size.
func (l *loader) writeValue(w *canon.Writer, t *Type, n *node) {
	for t.Kind == Ref {
		t = t.Ref.Type
	}
	switch t.Kind {
	case Nullable:
		if n.kind == nullNode {
			w.Null()
		} else {
			l.writeValue(w, t.Items, n)
		}
	case Opaque, FreeObject:
		writeOpaque(w, n)
	case Boolean:
		w.Bool(n.text == "true")
	case String, Bytes:
		w.String(n.text, 0, math.MaxInt)
	case Integer:
		i, _ := parseInteger(n.text)
		w.Int(i, t.Minimum, t.Maximum)
	case Int64:
		i, _ := parseInteger(n.text)
		w.Int64(i, t.Minimum, t.Maximum)
	case Number:
		f, _, _ := parseNumber(n.text)
		w.Float(f)
	case Array:
		w.BeginArray(len(n.items), t.MinItems, t.MaxItems)
		for i, item := range n.items {
			if w.Err() != nil {
				return
			}
			w.Element(i)
			l.writeValue(w, t.Items, item)
		}
		w.EndArray()
	case Map:
		l.writeMap(w, t, n)
	case Union:
		l.writeUnion(w, t, n)
	case Object:
		l.writeObject(w, t, n)
	}
}

// writeObject fills in the defaults of what is absent.
func (l *loader) writeObject(w *canon.Writer, t *Type, n *node) {
	type filled struct {
		*Property
		value *node
	}
	var present []filled
	for _, p := range t.Properties {
		v := n.get(p.Name)
		if v == nil {
			v = l.defaultOf[p]
		}
		if v != nil {
			present = append(present, filled{p, v})
		}
	}
	// Property names are ASCII: byte order is RFC 8785's order.
	slices.SortFunc(present, func(a, b filled) int { return strings.Compare(a.Name, b.Name) })
	w.BeginObject(len(present))
	for _, p := range present {
		if w.Err() != nil {
			return
		}
		w.Key(p.Name)
		l.writeValue(w, p.Type, p.value)
	}
	w.EndObject()
}

// checkUnique reports where two of n's items, which are checked, are equal.
func (l *loader) checkUnique(t *Type, n *node, bad func(string, ...any) bool) bool {
	if !t.Unique {
		return true
	}
	w := canon.NewCanonicalWriter(nil)
	w.Limit(l.limits.valueDepth, l.limits.defaultBytes)
	l.writeValue(w, t, n)
	w.Unique(len(n.items), func(w *canon.Writer, i int) { l.writeValue(w, t.Items, n.items[i]) })
	var refused *canon.Error
	if errors.As(w.Err(), &refused) && refused.Code == canon.CodeDuplicate {
		return bad("%s", refused.Message)
	}
	return true // a size is judged where the default is stored
}
