package breaking

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/schema"
)

// strings compares texts: words of a list, or bounds, pattern and format.
func (c *comparer) strings(p place, b, h *schema.Type, d direction) {
	listed, lists := len(b.Enum) > 0, len(h.Enum) > 0
	switch {
	case listed && lists:
		c.enum(p.at("enum"), b, h, d)
		return
	case lists:
		c.add(p.at("enum"), d.rule("enum-added"), "", EnumText(h.Enum))
		if d == output {
			c.strangers(p.at("enum"), h.Enum, b, "output-enum-value-added")
		}
	case listed:
		c.add(p.at("enum"), d.rule("enum-removed"), EnumText(b.Enum), "")
		if d == input {
			c.strangers(p.at("enum"), b.Enum, h, "input-enum-value-removed")
		}
	}
	if listed == lists || b.Open || h.Open {
		c.lengths(p, b, h, d)
		c.optional(p.at("pattern"), d.rule("pattern"), b.Pattern, h.Pattern)
		c.optional(p.at("format"), d.rule("format"), b.Format, h.Format)
	}
}

// strangers reports the words that t, which is no list of words, does not take.
// Where a format decides none is taken for granted.
func (c *comparer) strangers(p place, words []string, t *schema.Type, id string) {
	var pattern *regexp.Regexp
	if t.Pattern != "" {
		pattern, _ = regexp.Compile(t.Pattern) // Load has compiled it before
	}
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		if n >= t.MinLength && n <= t.MaxLength && t.Format == "" && (t.Pattern == "" || pattern != nil && pattern.MatchString(word)) {
			continue
		}
		if id == "output-enum-value-added" {
			c.add(p.at(word), id, "", word)
		} else {
			c.add(p.at(word), id, word, "")
		}
	}
}

// optional reports a text that is there on one side only, or another.
func (c *comparer) optional(p place, id, before, after string) {
	switch {
	case before == after:
	case before == "":
		c.add(p, id+"-added", before, after)
	case after == "":
		c.add(p, id+"-removed", before, after)
	default:
		c.add(p, id+"-changed", before, after)
	}
}

// enum compares two lists of words.
func (c *comparer) enum(p place, b, h *schema.Type, d direction) {
	if b.Open != h.Open {
		if h.Open {
			c.add(p, d.rule("enum-opened"), "closed", "open")
		} else {
			c.add(p, d.rule("enum-closed"), "open", "closed")
		}
	}
	added := d.rule("enum-value-added")
	if d == output && b.Open {
		added = "output-open-enum-value-added"
	}
	var kept, stay []string
	for i, word := range b.Enum {
		if slices.Contains(h.Enum, word) {
			kept = append(kept, word)
			continue
		}
		at := p.at(word)
		if i < len(b.EnumAt) {
			at = at.in(b.EnumAt[i], schema.Position{})
		}
		c.add(at, d.rule("enum-value-removed"), word, "")
	}
	for i, word := range h.Enum {
		if slices.Contains(b.Enum, word) {
			stay = append(stay, word)
			continue
		}
		at := p.at(word)
		if i < len(h.EnumAt) {
			at = at.in(schema.Position{}, h.EnumAt[i])
		}
		c.add(at, added, "", word)
	}
	if !slices.Equal(kept, stay) {
		c.add(p, "enum-reordered", EnumText(kept), EnumText(stay))
	}
}

// constant compares the one value that a boolean has, if it has only one.
func (c *comparer) constant(p place, before, after string, d direction) {
	c.optional(p, d.rule("const"), before, after)
}

// EnumText lists words so that each can be told from the next.
func EnumText(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, ", ")
}
