package shaping

import (
	"math"

	"github.com/capgen/capgen/runtime/canon"
)

// Cut makes a list, or an object with a list, a record of its items: as many
// whole ones as fit, and whether some do not.
type Cut struct {
	// Items and Bytes bound what is left; zero is no bound of that kind.
	// Bytes are those of the items in the wire encoding.
	Items, Bytes int
	// List is the member that holds the list; empty when the value is one.
	List string
	// Next is the member that holds the cursor to the next page; empty for
	// none.
	Next string
}

// overhead is what the record takes around items and cursor.
const overhead = 64

// Apply is the record {items, next, truncated} of a wire value, which has at
// most maxBytes. next is the cursor of the page after this one, and null at the
// last page, and where items were left out: the cursor would pass over them. A
// cut without Next has no next.
func (c Cut) Apply(wire []byte, maxBytes, maxDepth int) ([]byte, error) {
	list, next, err := c.find(wire, maxDepth)
	if err != nil {
		return nil, err
	}
	room := maxBytes - overhead - len(next)
	if c.Bytes > 0 {
		room = min(room, c.Bytes)
	}
	var items []part
	r := canon.NewWireReader(list, maxDepth)
	r.BeginArray(0, math.MaxInt)
	truncated := false
	for r.NextElement() {
		item := raw(r, list)
		room -= len(item)
		if truncated = truncated || room < 0 || c.Items > 0 && len(items) == c.Items; !truncated {
			items = append(items, part{wire: item})
		}
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	w := canon.NewWireWriter(nil)
	w.Limit(maxDepth, 0)
	w.BeginObject(2 + canon.Count(c.Next != ""))
	w.Key("items")
	writeArray(w, items)
	if c.Next != "" {
		w.Key("next")
		if truncated || ends(next) {
			w.Null()
		} else {
			w.Wire(next)
		}
	}
	w.Key("truncated").Bool(truncated)
	w.EndObject()
	err = w.End()
	return w.Bytes(), err
}

// find returns the wire bytes of the list and of the cursor, nil for none.
func (c Cut) find(wire []byte, maxDepth int) (list, next []byte, err error) {
	if c.List == "" {
		return wire, nil, nil
	}
	r := canon.NewWireReader(wire, maxDepth)
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case c.List:
			list = raw(r, wire)
		case c.Next:
			next = raw(r, wire)
		default:
			r.Skip()
		}
	}
	return list, next, r.End()
}

// ends tells whether a cursor leads nowhere: it is absent, null or empty.
func ends(next []byte) bool {
	r := canon.NewWireReader(next, 0)
	switch r.Peek() {
	case canon.KindString:
		return r.String(0, math.MaxInt) == ""
	case canon.KindNull, canon.KindInvalid:
		return true
	}
	return false
}
