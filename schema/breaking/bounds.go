package breaking

import (
	"math/big"
	"strconv"

	"github.com/capgen/capgen/schema"
)

// bound reports a keyword that takes less or more: order is negative when the
// head takes less.
func (c *comparer) bound(p place, keyword string, order int, before, after string, d direction) {
	id := d.rule(kebab(keyword))
	switch {
	case order < 0:
		c.add(p.at(keyword), id+"-tightened", before, after)
	case order > 0:
		c.add(p.at(keyword), id+"-loosened", before, after)
	}
}

// lengths compares the lengths of texts, or of the text that bytes are.
func (c *comparer) lengths(p place, b, h *schema.Type, d direction) {
	c.bound(p, "minLength", b.MinLength-h.MinLength, strconv.Itoa(b.MinLength), strconv.Itoa(h.MinLength), d)
	c.bound(p, "maxLength", h.MaxLength-b.MaxLength, strconv.Itoa(b.MaxLength), strconv.Itoa(h.MaxLength), d)
}

// counts compares how many items an array, or members a map, has.
func (c *comparer) counts(p place, of string, b, h *schema.Type, d direction) {
	c.bound(p, "min"+of, b.MinItems-h.MinItems, strconv.Itoa(b.MinItems), strconv.Itoa(h.MinItems), d)
	c.bound(p, "max"+of, h.MaxItems-b.MaxItems, strconv.Itoa(b.MaxItems), strconv.Itoa(h.MaxItems), d)
}

func (c *comparer) unique(p place, b, h *schema.Type, d direction) {
	switch {
	case !b.Unique && h.Unique:
		c.bound(p, "uniqueItems", -1, "", "true", d)
	case b.Unique && !h.Unique:
		c.bound(p, "uniqueItems", 1, "true", "", d)
	}
}

// limit is one end of a range; value is nil for none.
type limit struct {
	value     *big.Rat
	text      string
	exclusive bool
}

// ends are the two ends of the range of a number.
func ends(t *schema.Type) (low, high limit) {
	if t.Kind == schema.Number {
		return numberLimit(t.NumberMin, t.ExclusiveMin), numberLimit(t.NumberMax, t.ExclusiveMax)
	}
	return numberLimit(strconv.FormatInt(t.Minimum, 10), false), numberLimit(strconv.FormatInt(t.Maximum, 10), false)
}

func numberLimit(text string, exclusive bool) limit {
	if text == "" {
		return limit{}
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return limit{} // a Type of Load holds numbers
	}
	return limit{value, text, exclusive}
}

// numbers compares ranges and multiples of numbers of any kind.
func (c *comparer) numbers(p place, b, h *schema.Type, d direction) {
	lowB, highB := ends(b)
	lowH, highH := ends(h)
	c.end(p, "minimum", "exclusiveMinimum", lowB, lowH, lowB.above(lowH, 1), d)
	c.end(p, "maximum", "exclusiveMaximum", highB, highH, highB.above(highH, -1), d)
	c.multiples(p, b.MultipleOf, h.MultipleOf, d)
}

// end reports an end of a range under the keyword that says it in the head or,
// where there is none, in the base.
func (c *comparer) end(p place, keyword, exclusive string, b, h limit, order int, d direction) {
	if h.value != nil && h.exclusive || h.value == nil && b.exclusive {
		keyword = exclusive
	}
	c.bound(p, keyword, order, b.text, h.text, d)
}

// above tells how a lower end (sign 1) of the base lies to that of the head:
// negative when the head takes less. For upper ends sign is -1.
func (b limit) above(h limit, sign int) int {
	switch {
	case b.value == nil && h.value == nil:
		return 0
	case b.value == nil:
		return -1
	case h.value == nil:
		return 1
	}
	if order := sign * b.value.Cmp(h.value); order != 0 {
		return order
	}
	switch {
	case h.exclusive && !b.exclusive:
		return -1
	case b.exclusive && !h.exclusive:
		return 1
	}
	return 0
}

// multiples: a multiple of a multiple is one, so that one side may take a part
// of the other's values. Where neither does, it takes less as an input and
// more as an output.
func (c *comparer) multiples(p place, before, after string, d direction) {
	b, h := numberLimit(before, false).value, numberLimit(after, false).value
	order := 0
	switch {
	case b == nil && h == nil || b != nil && h != nil && b.Cmp(h) == 0:
	case b == nil:
		order = -1
	case h == nil:
		order = 1
	case new(big.Rat).Quo(h, b).IsInt():
		order = -1
	case new(big.Rat).Quo(b, h).IsInt():
		order = 1
	case d == input:
		order = -1
	default:
		order = 1
	}
	c.bound(p, "multipleOf", order, before, after, d)
}
