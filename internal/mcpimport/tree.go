package mcpimport

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/capgen/capgen/runtime/canon"
)

// Bounds on a document; MaxBytes is what a caller need not read beyond.
const (
	// MaxBytes of one document.
	MaxBytes = 16 << 20
	// maxDepth is how deep it nests. Schemas nest three levels for one of
	// a value, and a value has at most 32.
	maxDepth = 128
	// maxValues is how many values it holds.
	maxValues = 500_000
	// maxTools is how many tools it lists: what a manifest takes.
	maxTools = 10_000
)

type kind uint8

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	listKind
	objectKind
)

// value is a JSON value, read or to be written. Members keep their order: it
// is the order of parameters.
type value struct {
	kind    kind
	text    string // of a string; the literal of a number; true or false
	members []member
	items   []*value
	offset  int // where it was read
	// comment stands behind the value in a manifest; fixed words only.
	comment string
}

type member struct {
	key   string
	value *value
}

// get is the member called key, nil for none and of what is no object.
func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	for i := range v.members {
		if v.members[i].key == key {
			return v.members[i].value
		}
	}
	return nil
}

func (v *value) set(key string, to *value) { v.members = append(v.members, member{key, to}) }

// with is a copy of v in which key is to; a new key comes first.
func (v *value) with(key string, to *value) *value {
	out := *v
	out.members = []member{{key, to}}
	for _, m := range v.members {
		if m.key == key {
			out.members = append(out.members[1:], member{key, to})
			continue
		}
		out.members = append(out.members, m)
	}
	return &out
}

// without is a copy of v without key.
func (v *value) without(key string) *value {
	out := *v
	out.members = nil
	for _, m := range v.members {
		if m.key != key {
			out.members = append(out.members, m)
		}
	}
	return &out
}

func (v *value) is(k kind) bool       { return v != nil && v.kind == k }
func (v *value) isText(s string) bool { return v.is(stringKind) && v.text == s }
func (v *value) isBool(s string) bool { return v.is(boolKind) && v.text == s }
func text(s string) *value            { return &value{kind: stringKind, text: s} }
func number(literal string) *value    { return &value{kind: numberKind, text: literal} }
func boolean(b bool) *value           { return &value{kind: boolKind, text: strconv.FormatBool(b)} }
func list(items ...*value) *value     { return &value{kind: listKind, items: items} }
func object(members ...member) *value { return &value{kind: objectKind, members: members} }
func typed(name string) *value        { return object(member{"type", text(name)}) }
func opaque() *value                  { return object(member{"x-opaque", boolean(true)}) }
func escapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// readTree reads one strict JSON text; the error says where it is none.
func readTree(data []byte) (*value, *problem) {
	if len(data) > MaxBytes {
		return nil, &problem{reason: "the document has more than 16 MiB"}
	}
	t := treeReader{in: canon.NewJSONReader(data, maxDepth)}
	v := t.value()
	if t.problem != nil {
		return nil, t.problem
	}
	err := t.in.Err()
	if err == nil {
		err = t.in.End()
	}
	if err != nil {
		p := &problem{reason: "no JSON: " + err.Error()}
		var located *canon.Error
		if errors.As(err, &located) {
			p.offset, p.reason = located.Offset, "no JSON: "+located.Message
		}
		return nil, p
	}
	return v, nil
}

type treeReader struct {
	in      *canon.Reader
	values  int
	problem *problem
}

// value returns nil when reading has to stop.
func (t *treeReader) value() *value {
	v := &value{offset: t.in.Offset()}
	if t.values++; t.values > maxValues {
		t.problem = &problem{offset: v.offset, reason: "the document holds more than 500,000 values"}
		return nil
	}
	switch t.in.Peek() {
	case canon.KindNull:
		t.in.Null()
	case canon.KindBool:
		v.kind, v.text = boolKind, strconv.FormatBool(t.in.Bool())
	case canon.KindNumber:
		v.kind, v.text = numberKind, t.in.RawNumber()
	case canon.KindString:
		v.kind, v.text = stringKind, t.in.String(0, math.MaxInt)
	case canon.KindArray:
		v.kind = listKind
		t.in.BeginArray(0, math.MaxInt)
		for t.in.NextElement() {
			item := t.value()
			if item == nil {
				return nil
			}
			v.items = append(v.items, item)
		}
	case canon.KindObject:
		if !t.object(v) {
			return nil
		}
	default:
		t.in.Skip() // the reader has the words for what stands here
	}
	if t.in.Err() != nil {
		return nil
	}
	return v
}

// object reads members. A key that stands twice means different things to
// different readers, and so ends the reading.
func (t *treeReader) object(v *value) bool {
	v.kind = objectKind
	seen := map[string]bool{}
	t.in.BeginObject()
	for at := t.in.Offset(); t.in.NextMember(); at = t.in.Offset() {
		key := string(t.in.Key())
		if seen[key] {
			t.problem = &problem{offset: at, reason: "a key stands twice in one object: " + quote(key)}
			return false
		}
		seen[key] = true
		to := t.value()
		if to == nil {
			return false
		}
		v.set(key, to)
	}
	return true
}
