package oracle

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Schema is an effective schema with its validator. It is for one goroutine.
type Schema struct {
	root     any
	compiler *jsonschema.Compiler
	judge    *jsonschema.Schema
	parts    map[string]*jsonschema.Schema // by JSON pointer
}

const address = "mem:effective"

// Compile reads an effective schema that stands alone. Its formats, and what it
// says of int64 and of opaque values in words that are not JSON Schema's own,
// are asserted: see rules.
func Compile(effective []byte) (*Schema, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(effective))
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	s := &Schema{root: root, compiler: jsonschema.NewCompiler(), parts: map[string]*jsonschema.Schema{}}
	s.compiler.AssertVocabs()
	s.compiler.RegisterVocabulary(&jsonschema.Vocabulary{URL: "mem:rules", Compile: rules})
	if err := s.compiler.AddResource(address, root); err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	if s.judge, err = s.part(""); err != nil {
		return nil, err
	}
	return s, nil
}

// part is the validator of the schema at a JSON pointer.
func (s *Schema) part(pointer string) (*jsonschema.Schema, error) {
	if p := s.parts[pointer]; p != nil {
		return p, nil
	}
	p, err := s.compiler.Compile(address + "#" + pointer)
	if err != nil {
		return nil, fmt.Errorf("oracle: compile %s: %w", pointer, err)
	}
	s.parts[pointer] = p
	return p, nil
}

// at is the schema that ref, #/a/b, leads to.
func (s *Schema) at(ref string) (any, error) {
	n := s.root
	for token := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		object, ok := n.(map[string]any)
		if !ok || object[unescape(token)] == nil {
			return nil, fmt.Errorf("oracle: %s leads nowhere", ref)
		}
		n = object[unescape(token)]
	}
	return n, nil
}

func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "%", "%25").Replace(token)
}

func unescape(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// Violation is one keyword that a value breaks.
type Violation struct {
	// Path leads to the value; to the member, of one that is missing, unknown
	// or badly named.
	Path []string
	// Keyword is JSON Schema's, or one of rules.
	Keyword string
}

func (v Violation) String() string { return strings.Join(v.Path, "/") + " " + v.Keyword }

// Judge is all that v, which Read returned, breaks; nothing if s accepts it.
func (s *Schema) Judge(v any) []Violation {
	err := s.judge.Validate(v)
	if err == nil {
		return nil
	}
	var found []Violation
	if e := (*jsonschema.ValidationError)(nil); errors.As(err, &e) {
		found = violations(nil, e)
	}
	if len(found) == 0 {
		found = []Violation{{Keyword: err.Error()}} // refused is refused
	}
	return found
}

func violations(out []Violation, e *jsonschema.ValidationError) []Violation {
	add := func(keyword string, below ...string) {
		out = append(out, Violation{slices.Concat(e.InstanceLocation, below), keyword})
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			add("required", name)
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add("additionalProperties", name)
		}
	case *kind.PropertyNames:
		add("propertyNames", k.Property)
		return out // its causes are about the name
	case *wide:
		add(opaqueKeyword, k.at...)
	default:
		if path := k.KeywordPath(); len(path) > 0 {
			add(path[0])
		}
	}
	for _, cause := range e.Causes {
		out = violations(out, cause)
	}
	return out
}
