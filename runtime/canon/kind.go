package canon

// Kind is what the next value is, as far as its first byte tells.
type Kind uint8

// The kinds. JSON text has one kind of number, the wire has two.
const (
	KindInvalid Kind = iota // end of input, malformed, or after an error
	KindNull
	KindBool
	KindInt    // wire only
	KindFloat  // wire only
	KindNumber // JSON only
	KindString
	KindArray
	KindObject
)

// String is the kind's JSON Schema name, as it stands in messages.
func (k Kind) String() string {
	switch k {
	case KindNull:
		return "null"
	case KindBool:
		return "boolean"
	case KindInt:
		return "integer"
	case KindFloat, KindNumber:
		return "number"
	case KindString:
		return "string"
	case KindArray:
		return "array"
	case KindObject:
		return "object"
	}
	return "nothing"
}
