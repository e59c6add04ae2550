package binding

import (
	"fmt"
	"math"

	"github.com/capgen/capgen/runtime/canon"
)

// shapeDecoder reads the members of a shape, which stand on their own or
// among those of a field.
type shapeDecoder struct {
	shape *Shape
	level int
	seen  canon.Seen
}

// The members of a shape by number; kind is the one that all shapes have.
const (
	memberKind = iota
	memberFields
	memberItems
	memberMinLength
	memberMaxLength
	memberEnum
	memberPattern
	memberMinimum
	memberMaximum
	memberRange
	memberMultipleOf
	memberRef
	memberVariants
	memberTag
	memberTags
	memberNullable
	memberKeys
	memberConst
	memberFormat
	memberUnique
	shapeMembers
)

// memberNames are the members' names by number.
func memberNames() [shapeMembers]string {
	return [...]string{"kind", "fields", "items", "minLength", "maxLength", "enum", "pattern", "minimum", "maximum", "range", "multipleOf", "ref", "variants", "tag", "tags", "nullable", "keys", "const", "format", "unique"}
}

// applies tells which members a kind may have.
func (k Kind) applies(member int) bool {
	switch member {
	case memberKind, memberNullable:
		return true
	case memberFields:
		return k == Object
	case memberItems:
		return k == Array || k == Map
	case memberKeys:
		return k == Map
	case memberMinLength, memberMaxLength:
		return k == String || k == Bytes || k == Array || k == Map
	case memberEnum, memberPattern, memberFormat:
		return k == String
	case memberMinimum, memberMaximum:
		return k == Integer
	case memberRange:
		return k == Number || k == Int64
	case memberConst:
		return k == Boolean
	case memberUnique:
		return k == Array
	case memberRef:
		return k == Ref
	case memberVariants, memberTag, memberTags:
		return k == Union
	case memberMultipleOf:
		return k == Integer || k == Number || k == Int64
	}
	return false
}

// member reads the member whose key r has just read.
func (d *shapeDecoder) member(r *canon.Reader) {
	if d.level > MaxNesting {
		r.Fail(canon.CodeDepth, fmt.Sprintf("nested deeper than %d levels", MaxNesting))
		return
	}
	s := d.shape
	switch string(r.Key()) {
	case "kind":
		d.seen.Mark(r, memberKind)
		s.Kind = Kind(r.Enum(string(String), string(Integer), string(Number), string(Boolean), string(Array), string(Object), string(Opaque), string(Free), string(Map), string(Int64), string(Bytes), string(Union), string(Ref)))
	case "fields":
		d.seen.Mark(r, memberFields)
		s.Fields = decodeFields(r, d.level+1)
	case "items":
		d.seen.Mark(r, memberItems)
		items := decodeShape(r, d.level+1)
		s.Items = &items
	case "keys":
		d.seen.Mark(r, memberKeys)
		keys := decodeShape(r, d.level+1)
		s.Keys = &keys
		if keys.Kind != String || keys.Nullable {
			r.Fail(canon.CodeType, "expected the shape of a string")
		}
	case "minLength":
		d.seen.Mark(r, memberMinLength)
		s.MinLength = int(r.Int(0, math.MaxInt32))
	case "maxLength":
		d.seen.Mark(r, memberMaxLength)
		s.MaxLength = int(r.Int(0, math.MaxInt32))
	case "enum":
		d.seen.Mark(r, memberEnum)
		r.BeginArray(1, MaxEnum)
		for r.NextElement() {
			s.Enum = append(s.Enum, r.String(0, maxText))
		}
	case "pattern":
		d.seen.Mark(r, memberPattern)
		s.Pattern = r.String(1, maxText)
	case "format":
		d.seen.Mark(r, memberFormat)
		s.Format = r.Enum(canon.Formats()...)
	case "minimum":
		d.seen.Mark(r, memberMinimum)
		s.Minimum = r.Int(-canon.MaxInteger, canon.MaxInteger)
	case "maximum":
		d.seen.Mark(r, memberMaximum)
		s.Maximum = r.Int(-canon.MaxInteger, canon.MaxInteger)
	case "range":
		d.seen.Mark(r, memberRange)
		s.Range = decodeRange(r)
	case "multipleOf":
		d.seen.Mark(r, memberMultipleOf)
		s.MultipleOf = decodeDecimal(r)
	case "const":
		d.seen.Mark(r, memberConst)
		s.Const = r.Enum("true", "false")
	case "ref":
		d.seen.Mark(r, memberRef)
		s.Ref = r.String(1, maxFieldName)
	case "unique":
		d.seen.Mark(r, memberUnique)
		s.Unique = r.Bool()
	case "variants":
		d.seen.Mark(r, memberVariants)
		r.BeginArray(2, MaxVariants)
		for r.NextElement() {
			s.Variants = append(s.Variants, decodeShape(r, d.level+1))
		}
	case "tag":
		d.seen.Mark(r, memberTag)
		s.Tag = r.String(1, maxFieldName)
	case "tags":
		d.seen.Mark(r, memberTags)
		r.BeginArray(2, MaxVariants)
		for r.NextElement() {
			s.Tags = append(s.Tags, r.String(0, maxText))
		}
	case "nullable":
		d.seen.Mark(r, memberNullable)
		s.Nullable = r.Bool()
	default:
		r.UnknownMember()
	}
}

// finish checks that the members fit together.
func (d *shapeDecoder) finish(r *canon.Reader) {
	s := d.shape
	r.Require(&d.seen, memberKind, "kind")
	for i, name := range memberNames() {
		if d.seen.Has(i) && !s.Kind.applies(i) {
			r.Fail(canon.CodeUnknown, fmt.Sprintf("member %s does not apply to kind %s", name, s.Kind))
		}
	}
	switch s.Kind {
	case String, Bytes, Array, Map:
		if s.MinLength > s.MaxLength {
			r.Fail(canon.CodeRange, "minLength is above maxLength")
		}
	case Int64:
		if low, high, ok := s.Int64Range(); !ok || low > high {
			r.Fail(canon.CodeRange, "expected a range of 64-bit integers")
		}
	case Integer:
		if s.Minimum > s.Maximum {
			r.Fail(canon.CodeRange, "minimum is above maximum")
		}
	}
	if s.Kind == Union {
		r.Require(&d.seen, memberVariants, "variants")
		if (s.Tag == "") != (len(s.Tags) == 0) || s.Tag != "" && len(s.Tags) != len(s.Variants) {
			r.Fail(canon.CodeUnknown, "tags that do not fit the variants")
		}
	}
	if s.Kind == Ref {
		r.Require(&d.seen, memberRef, "ref")
	}
	if s.Kind == Array || s.Kind == Map {
		r.Require(&d.seen, memberItems, "items")
	}
	if s.Kind == Map {
		r.Require(&d.seen, memberKeys, "keys")
	}
}

func decodeRange(r *canon.Reader) *Range {
	var v Range
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "min":
			seen.Mark(r, 0)
			v.Min = decodeDecimal(r)
		case "max":
			seen.Mark(r, 1)
			v.Max = decodeDecimal(r)
		case "exclusiveMin":
			seen.Mark(r, 2)
			v.ExclusiveMin = r.Bool()
		case "exclusiveMax":
			seen.Mark(r, 3)
			v.ExclusiveMax = r.Bool()
		default:
			r.UnknownMember()
		}
	}
	return &v
}

// decodeDecimal reads a string that is the text of a finite JSON number.
func decodeDecimal(r *canon.Reader) string {
	s := r.String(1, maxNumberText)
	number := canon.NewJSONReader([]byte(s), 0)
	number.Float()
	if number.End() != nil {
		r.Fail(canon.CodeSyntax, "expected the text of a number")
	}
	return s
}
