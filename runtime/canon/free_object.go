package canon

import (
	"maps"
	"slices"
)

// MaxFreeMembers is how many members a FreeObject may have.
const MaxFreeMembers = 10_000

// FreeObject is an object whose members no schema names: any keys, any values,
// at most MaxFreeMembers. A nil FreeObject is empty.
type FreeObject map[string]Opaque

// Decode reads any object as an argument; what it holds is bounded as Opaque is.
func (v *FreeObject) Decode(r *Reader) error {
	members := FreeObject{}
	*v = nil
	r.BeginObject()
	for r.NextMember() {
		key := string(r.Key())
		if _, twice := members[key]; twice {
			r.failAt(CodeDuplicate, r.start, "given twice")
			break
		}
		if len(members) == MaxFreeMembers {
			r.failAt(CodeLength, r.start, "expected at most "+count(MaxFreeMembers, "member")+", got more")
			break
		}
		var value Opaque
		value.Decode(r)
		members[key] = value
	}
	if r.err == nil {
		*v = members
	}
	return r.Err()
}

// Encode writes the members in canonical order and checks them.
func (v *FreeObject) Encode(w *Writer) {
	if problem := checkLength(len(*v), 0, MaxFreeMembers, "member"); problem != "" && w.breach(CodeLength, problem) {
		return
	}
	w.BeginObject(len(*v))
	for _, key := range slices.SortedFunc(maps.Keys(*v), CompareKeys) {
		value := (*v)[key]
		value.Encode(w.Key(key))
	}
	w.EndObject()
}

// AppendCanonical appends the RFC 8785 bytes of v.
func (v *FreeObject) AppendCanonical(b []byte) []byte { return AppendCanonical(b, v) }
