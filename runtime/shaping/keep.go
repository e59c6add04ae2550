package shaping

import (
	"fmt"
	"math"
	"strings"

	"github.com/capgen/capgen/runtime/canon"
)

// Bounds of a Keep.
const (
	MaxPointers     = 64
	MaxPointerBytes = 512
)

// everyItem is the token for every item of an array and value of a map.
const everyItem = "*"

// Keep is what is left of a value: a tree of member names. It is immutable.
type Keep struct {
	whole   bool
	members map[string]*Keep
	every   *Keep
}

// NewKeep compiles JSON pointers (RFC 6901) to the parts that are left, in
// which * stands for every item of an array and every value of a map. No
// pointer may lead into another's part.
func NewKeep(pointers []string) (*Keep, error) {
	if len(pointers) == 0 || len(pointers) > MaxPointers {
		return nil, fmt.Errorf("shaping: %d pointers, not 1 to %d", len(pointers), MaxPointers)
	}
	root := &Keep{}
	for _, p := range pointers {
		if len(p) > MaxPointerBytes || !strings.HasPrefix(p, "/") {
			return nil, fmt.Errorf("shaping: %.80q is no pointer of at most %d bytes", p, MaxPointerBytes)
		}
		at := root
		for token := range strings.SplitSeq(p[1:], "/") {
			if at.whole {
				return nil, fmt.Errorf("shaping: %.80q leads into what is kept already", p)
			}
			at = at.below(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		}
		if at.whole || at.every != nil || at.members != nil {
			return nil, fmt.Errorf("shaping: %.80q holds what is kept already", p)
		}
		at.whole = true
	}
	return root, nil
}

// below is the part under a token, made when it is met first.
func (k *Keep) below(token string) *Keep {
	if token == everyItem {
		if k.every == nil {
			k.every = &Keep{}
		}
		return k.every
	}
	if k.members == nil {
		k.members = map[string]*Keep{}
	}
	if k.members[token] == nil {
		k.members[token] = &Keep{}
	}
	return k.members[token]
}

// Apply is the wire value without what is not kept: members and, of arrays of
// which nothing is kept, items. Scalars and null on the way to a part stay. The
// error is that of a value that is no wire value or nested deeper than maxDepth.
func (k *Keep) Apply(wire []byte, maxDepth int) ([]byte, error) {
	w := canon.NewWireWriter(nil)
	w.Limit(maxDepth, 0)
	r := canon.NewWireReader(wire, maxDepth)
	k.copy(w, r, wire)
	if err := r.End(); err != nil {
		return nil, err
	}
	err := w.End()
	return w.Bytes(), err
}

// part is a member or item that stays.
type part struct {
	key  string
	wire []byte
}

// copy writes what is kept of the next value. It recurses once for each token
// of a pointer.
func (k *Keep) copy(w *canon.Writer, r *canon.Reader, data []byte) {
	kind := r.Peek()
	if k.whole || kind != canon.KindObject && kind != canon.KindArray {
		w.Wire(raw(r, data))
		return
	}
	var parts []part
	keep := func(key string, below *Keep) {
		if below == nil {
			r.Skip()
			return
		}
		inner := canon.NewWireWriter(nil)
		below.copy(inner, r, data)
		parts = append(parts, part{key, inner.Bytes()})
	}
	if kind == canon.KindArray {
		r.BeginArray(0, math.MaxInt)
		for r.NextElement() {
			keep("", k.every)
		}
		writeArray(w, parts)
		return
	}
	r.BeginObject()
	for r.NextMember() {
		key := string(r.Key())
		below := k.every
		if below == nil {
			below = k.members[key]
		}
		keep(key, below)
	}
	w.BeginObject(len(parts))
	for _, p := range parts {
		w.Key(p.key).Wire(p.wire)
	}
	w.EndObject()
}

func writeArray(w *canon.Writer, items []part) {
	w.BeginArray(len(items), 0, len(items))
	for i, p := range items {
		w.Element(i).Wire(p.wire)
	}
	w.EndArray()
}

// raw is the bytes of the next value.
func raw(r *canon.Reader, data []byte) []byte {
	from := r.Offset()
	r.Skip()
	if r.Err() != nil {
		return nil
	}
	return data[from:r.Offset()]
}
