package binding

// Kind is what a value is, told apart as JSON does, with integers and numbers
// kept separate.
type Kind string

// The kinds of this version. A table that holds another kind is refused.
const (
	String  Kind = "string"
	Integer Kind = "integer"
	// Int64 is an integer of 64 bits, a string of digits on the wire.
	Int64   Kind = "int64"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Array   Kind = "array"
	Object  Kind = "object"
	// Opaque is any JSON value; nothing else is said of it.
	Opaque Kind = "opaque"
	// Bytes are base64 text on the wire, whose characters MinLength and
	// MaxLength count.
	Bytes Kind = "bytes"
	// Map is an object whose keys are data.
	Map Kind = "map"
	// Free is an object of any members.
	Free Kind = "free"
	// Union is one of its Variants.
	Union Kind = "union"
	// Ref is the shape that stands under its name in the Capability's Types:
	// shapes that hold themselves are there.
	Ref Kind = "ref"
)

// Shape describes one value. Fields that do not apply to its Kind are zero.
type Shape struct {
	Kind Kind `json:"kind"`
	// Nullable values may be null as well.
	Nullable bool `json:"nullable,omitempty"`
	// Fields of an object, in declaration order.
	Fields []Field `json:"fields,omitempty"`
	// Items of an array, or values of a map.
	Items *Shape `json:"items,omitempty"`
	// Keys of a map: a string.
	Keys *Shape `json:"keys,omitempty"`
	// MinLength and MaxLength bound code points of a string, items of an array
	// or members of a map; MaxLength is always set by the generator.
	MinLength int `json:"minLength,omitempty"`
	MaxLength int `json:"maxLength,omitempty"`
	// Unique items of an array differ in their canonical bytes.
	Unique bool `json:"unique,omitempty"`
	// Enum lists the only strings allowed.
	Enum []string `json:"enum,omitempty"`
	// Const of a boolean is true or false, empty for either.
	Const string `json:"const,omitempty"`
	// Pattern is an RE2 expression that must match somewhere in the string.
	Pattern string `json:"pattern,omitempty"`
	// Format of a string, one of canon.Formats.
	Format string `json:"format,omitempty"`
	// Minimum and Maximum bound an integer, inclusively.
	Minimum int64 `json:"minimum,omitempty"`
	Maximum int64 `json:"maximum,omitempty"`
	// Range bounds a number, where nil is unbounded, and an int64, where both
	// bounds are set and inclusive.
	Range *Range `json:"range,omitempty"`
	// Variants of a union: objects whose member Tag is Tags[i] in Variants[i],
	// or, without Tag, shapes of different JSON types.
	Variants []Shape  `json:"variants,omitempty"`
	Tag      string   `json:"tag,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	// Ref is the name of a Ref's shape.
	Ref string `json:"ref,omitempty"`
	// MultipleOf is a decimal text, empty for none; for integers, int64 and numbers.
	MultipleOf string `json:"multipleOf,omitempty"`
}

// Range bounds a number. Texts are shortest decimals; empty is unbounded.
type Range struct {
	Min          string `json:"min,omitempty"`
	Max          string `json:"max,omitempty"`
	ExclusiveMin bool   `json:"exclusiveMin,omitempty"`
	ExclusiveMax bool   `json:"exclusiveMax,omitempty"`
}

// Field is one member of an object, or one keyword parameter.
type Field struct {
	Name string `json:"name"`
	Shape
	// Required: absent is an error. A field that is neither required nor has
	// a Default is optional.
	Required bool `json:"required,omitempty"`
	// Default is the canonical JSON of the value the host fills in, for the
	// signature only: a worker sends what the program gave.
	Default string `json:"default,omitempty"`
}

// Capability is one entry of a Table.
type Capability struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Input  []Field `json:"input"`
	Output Shape   `json:"output"`
	// Pages are nil for a result that is no page.
	Pages *Pages `json:"pages,omitempty"`
	// Types are what Refs refer to, sorted by name. None is itself a Ref.
	Types []NamedShape `json:"types,omitempty"`
}

// NamedShape is a shape under a name of [A-Za-z_][A-Za-z0-9_]*.
type NamedShape struct {
	Name  string `json:"name"`
	Shape Shape  `json:"shape"`
}
