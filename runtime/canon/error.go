package canon

// Code tells apart why a value was refused; a caller branches on it.
type Code string

// The codes. A value is refused for its first error only.
const (
	CodeSyntax    Code = "syntax"    // not strict JSON (RFC 8259), not minimal wire, bad UTF-8, trailing bytes
	CodeType      Code = "type"      // a value of another kind
	CodeMissing   Code = "missing"   // a required member is absent
	CodeUnknown   Code = "unknown"   // a member the schema does not declare
	CodeDuplicate Code = "duplicate" // a member twice, or an item of uniqueItems
	CodeRange     Code = "range"     // minimum, maximum, multipleOf, integer bounds, not finite
	CodeLength    Code = "length"    // minLength, maxLength, minItems, maxItems
	CodePattern   Code = "pattern"   // the pattern does not match
	CodeEnum      Code = "enum"      // none of the strings allowed
	CodeDepth     Code = "depth"     // containers nested too deep
	CodeSize      Code = "size"      // more bytes written than Writer.Limit allows
)

// Error is why a value was refused, and where. Its texts are safe to show to
// whoever sent the value: what they quote of it is escaped and cut.
type Error struct {
	// Path leads to the value: filter.owner, tags[1], labels['a b'] (for a
	// key that is no identifier); empty for the value itself. At most about
	// 1 KiB.
	Path string
	Code Code
	// Message is without the path: "expected string, got integer".
	Message string
	// Offset is the byte offset in the input, or -1 when writing.
	Offset int
}

// Error is the path and the message.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}
