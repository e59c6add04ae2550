package schema

import "strings"

// Manifest is a manifest in its effective form: resolved, lowered, complete.
type Manifest struct {
	// Package is the Go import path under which code is generated.
	Package string
	Server  Server
	// Types are the named types, sorted by name.
	Types []*NamedType
	// Capabilities are what programs may call, sorted by name: of one with an
	// approval its parts.
	Capabilities []*Capability
	// Governed are the capabilities with an approval as the manifest declares
	// them, sorted by name; they are not among Capabilities.
	Governed []*Capability
	// Programs are sorted by title.
	Programs []*Program
	// Deployments are sorted by name: at least one, which is default, with all
	// capabilities, where the manifest declares none.
	Deployments []*Deployment
	// DefaultNone tells that a build has to name its deployment.
	DefaultNone bool
	// Allowances are in the order of the manifest.
	Allowances []Allowance
}

// Allowance accepts the findings of one rule of lint about one thing. Whether
// there is such a rule or thing is for lint to say.
type Allowance struct {
	Rule string
	// Target is the name of a capability, types.NAME, server or programs.
	Target string
	Reason string
	Pos    Position
}

// Program is an entry of `programs`: an example that is a whole program.
type Program struct {
	Title, Source string
	// Result is canonical JSON.
	Result string
	Pos    Position
}

// Server is what a server says of itself.
type Server struct {
	Name, Title, Version, Instructions string
	// TitleAt and InstructionsAt are where those that are written stand.
	TitleAt, InstructionsAt Position
}

// NamedType is an entry of `types`.
type NamedType struct {
	Name string
	Type *Type
	Pos  Position
	// Recursive tells that values may hold others of the same type. Boxed:
	// on a way without a list, so that Go needs a pointer in between.
	Recursive, Boxed bool
}

// Capability is one entry of `capabilities`.
type Capability struct {
	ID, Name    string
	Summary     string
	Description string // the summary when the manifest gives none
	Search      []string
	Effect      string   // read | write | destroy; of a governed one also change, run
	Idempotency string   // natural | key | none
	World       string   // closed | open
	Scopes      []string // sorted; empty for `scopes: none`
	// Was are the names it had before, oldest first.
	Was []string
	// Tags are sorted; deployments select by them.
	Tags []string
	// Deprecated is nil for a capability that is to stay.
	Deprecated *Deprecation
	// DirectTool: clients may call it as an MCP tool of its own, too; see
	// ToolName.
	DirectTool bool
	// Source is nil for a capability that was not imported.
	Source *Source
	// Claimed are the hints of the server it was imported from.
	Claimed []Claim
	Shaping
	// Approval is nil for a capability whose calls take effect at once.
	Approval *Approval
	// Run is nil for a capability that is none, nor a part of one.
	Run *Run
	// Of is the capability with an approval that this is a part of, and Step
	// what the part is for; of what approval brings beside the parts Step is
	// the last segment of the name. Both are zero for what a manifest declares.
	Of   *Capability
	Step string
	// Input is an object (inline), or a Ref to one.
	Input, Output *Type
	// Errors that it declares, sorted by code; where there are none, it may
	// fail with any.
	Errors []DeclaredError
	// Examples in the order of the manifest: no two have the same input.
	Examples []*Example
	// At is where the value of each field that is written stands, by its key;
	// of a model made by hand it may be empty.
	At  map[string]Position
	Pos Position
}

// Example is an entry of a capability's `examples`: a call and its outcome.
type Example struct {
	Title string
	// Input is the canonical JSON of the arguments, with defaults filled in.
	// So is Output of the result, which is empty when the call fails.
	Input, Output string
	// Error is the code that the call fails with, one of the capability's;
	// empty when it does not fail.
	Error string
	Pos   Position
}

// DeclaredError is an entry of a capability's `errors`.
type DeclaredError struct {
	// Code is [a-z][a-z0-9_]*, at most 64 bytes; Text one line of at most 256.
	Code, Text string
	Pos        Position
}

// Deprecation says that a capability is on its way out. Since and RemoveAfter
// are dates of the form 2026-11-29, the second empty where none is set; Use is
// the name of the capability to take instead, empty for none.
type Deprecation struct{ Since, RemoveAfter, Use string }

// Namespace is the name without its last segment: a.b of a.b.c.
func (c *Capability) Namespace() string {
	if i := strings.LastIndexByte(c.Name, '.'); i >= 0 {
		return c.Name[:i]
	}
	return ""
}

// Leaf is the last segment of the name.
func (c *Capability) Leaf() string {
	return c.Name[strings.LastIndexByte(c.Name, '.')+1:]
}

// Kind of a Type.
type Kind string

// The kinds of this version.
const (
	String  Kind = "string"
	Integer Kind = "integer"
	// Int64 is an integer of 64 bits: a string of digits wherever JSON is.
	Int64   Kind = "int64"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Array   Kind = "array"
	Object  Kind = "object"
	// Bytes are base64 text wherever JSON is; MinLength and MaxLength count
	// its characters.
	Bytes Kind = "bytes"
	// Map is an object whose keys are data: Keys to Items.
	Map Kind = "map"
	// Nullable is Items or null.
	Nullable Kind = "nullable"
	// Opaque is any JSON value, which nothing else is said of.
	Opaque Kind = "opaque"
	// FreeObject is an object of any members.
	FreeObject Kind = "free"
	// Union is one of its Variants.
	Union Kind = "union"
	// Ref stands for the named type Ref points to.
	Ref Kind = "ref"
)

// Type is one effective schema. What does not apply to its Kind is zero.
type Type struct {
	Kind        Kind
	Title       string
	Description string
	// DescriptionAt is where it stands; of a model made by hand, and of texts
	// that lowering made, it may be zero.
	DescriptionAt Position
	// Examples are values in canonical JSON, as the keyword lists them.
	Examples []string
	// Properties of an object, in declaration order; additional ones are
	// always refused.
	Properties []*Property
	// Items of an array; the values of a map; what a nullable is when it is
	// not null.
	Items *Type
	// Keys of a map: a string.
	Keys *Type
	Ref  *NamedType
	// Variants of a union, in declaration order. Objects are told apart by
	// the member called Tag, which is Tags[i] in Variants[i]; with Tag empty
	// the variants are all of different JSON types.
	Variants []*Type
	Tag      string
	Tags     []string
	// Const of a boolean that is only one of the two: true or false.
	Const string
	// Enum of a string (a const is an enum of one); in declaration order.
	Enum []string
	// Open tells that the values of Enum are those known now, and that any
	// other string of MinLength to MaxLength is one too.
	Open bool
	// EnumAt is where each of them stands; of a model made by hand it may be
	// empty.
	EnumAt []Position
	// MinLength, MaxLength: code points of a string. MinItems, MaxItems:
	// items of an array, members of a map.
	MinLength, MaxLength int
	MinItems, MaxItems   int
	// Unique items of an array differ in their canonical bytes.
	Unique  bool
	Pattern string
	// Format of a string, one of canon.Formats.
	Format string
	// Minimum and Maximum of an integer or int64, inclusive, always set.
	Minimum, Maximum int64
	// Bounds of a number: shortest decimal texts, empty for none.
	NumberMin, NumberMax       string
	ExclusiveMin, ExclusiveMax bool
	// MultipleOf of an integer, int64 or number, decimal text, empty for none.
	MultipleOf string
	Pos        Position
}

// Property is one member of an object.
type Property struct {
	Name     string
	Type     *Type
	Required bool
	// Deprecated properties are still taken; descriptions and Go say so.
	Deprecated bool
	// Fixed parameters have the Default always: programs neither see nor give
	// them.
	Fixed bool
	// Default is the canonical JSON of the default; empty for none. A
	// property with a default is never Required.
	Default string
	Pos     Position
}

// Position is a place in a manifest file; Line and Column count from 1, in
// bytes for the column.
type Position struct {
	File         string
	Line, Column int
}

// Severity of a Diagnostic.
type Severity string

const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Diagnostic is one finding in a manifest.
type Diagnostic struct {
	Position
	Severity Severity
	// Rule is a stable kebab-case id.
	Rule    string
	Message string
	// Hint says what to write instead; may be empty.
	Hint string
	// Nearest is the closest name that exists, when a name was wrong.
	Nearest string
	// Related is a second position (the other definition of a duplicate).
	Related *Position
}
