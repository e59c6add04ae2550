package program

import (
	"math"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
)

// decodeReply turns the wire bytes of a native call's result into Starlark
// values, straight from the bytes. The host has checked the result against
// its schema; the shape decides between int and float and gives records their
// order.
func decodeReply(wire []byte, s *shape, maxDepth int) (starlark.Value, error) {
	r := canon.NewWireReader(wire, maxDepth)
	v := decodeValue(r, s)
	if err := r.End(); err != nil {
		return nil, err
	}
	return v, nil
}

func decodeValue(r *canon.Reader, s *shape) starlark.Value {
	if s.spec.Nullable && r.Null() {
		return starlark.None
	}
	switch s.kind {
	case binding.String:
		return starlark.String(r.String(0, math.MaxInt))
	case binding.Integer:
		return starlark.MakeInt64(r.Int(math.MinInt64, math.MaxInt64))
	case binding.Int64:
		return starlark.MakeInt64(r.Int64(math.MinInt64, math.MaxInt64))
	case binding.Number:
		return starlark.Float(r.SignedFloat())
	case binding.Boolean:
		return starlark.Bool(r.Bool())
	case binding.Bytes:
		return starlark.Bytes(r.Base64(0, math.MaxInt))
	case binding.Map:
		return decodeMap(r, s)
	case binding.Free:
		return decodeDict(r)
	case binding.Union:
		return decodeUnion(r, s)
	case binding.Opaque:
		return decodeOpaque(r)
	case binding.Array:
		var items []starlark.Value
		r.BeginArray(0, math.MaxInt)
		for r.NextElement() {
			items = append(items, decodeValue(r, s.items))
		}
		return starlark.NewList(items)
	}
	return decodeRecord(r, s)
}

func decodeRecord(r *canon.Reader, s *shape) *record {
	out := &record{shape: s, values: make([]starlark.Value, len(s.fields))}
	r.BeginObject()
	for r.NextMember() {
		i, ok := s.index[string(r.Key())]
		switch {
		case !ok:
			r.UnknownMember()
		case out.values[i] != nil:
			r.Fail(canon.CodeDuplicate, "given twice")
		default:
			out.values[i] = decodeValue(r, s.fields[i].shape)
			out.length++
		}
	}
	return out
}
