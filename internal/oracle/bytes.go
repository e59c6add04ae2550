package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
)

// Bytes is the RFC 8785 form of a value that Read returned.
func Bytes(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	return form(text)
}

// form is the RFC 8785 form of strict JSON.
func form(text []byte) ([]byte, error) {
	first, err := jcs.Transform(text)
	if err != nil {
		return nil, fmt.Errorf("oracle: canonicalize %q: %w", text, err)
	}
	if other, known, err := second(text); known && (err != nil || !bytes.Equal(first, other)) {
		return nil, fmt.Errorf("oracle: jcs writes %q, and jsontext %q, %v", first, other, err)
	}
	return first, nil
}

// Canonical is the RFC 8785 form of v, which s accepts, with the defaults that
// s declares filled in at every depth.
func (s *Schema) Canonical(v any) ([]byte, error) {
	filled, err := s.fill(s.root, "", v)
	if err != nil {
		return nil, err
	}
	return Bytes(filled)
}

// fill returns v with the defaults of the schema n, which stands at pointer.
func (s *Schema) fill(n any, pointer string, v any) (any, error) {
	schema, ok := n.(map[string]any)
	if !ok {
		return v, nil
	}
	if ref, ok := schema["$ref"].(string); ok {
		target, err := s.at(ref)
		if err != nil {
			return nil, err
		}
		return s.fill(target, ref[1:], v)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		branches, _ := schema[keyword].([]any)
		for i, branch := range branches {
			at := fmt.Sprintf("%s/%s/%d", pointer, keyword, i)
			judge, err := s.part(at)
			if err != nil {
				return nil, err
			}
			if judge.Validate(v) == nil {
				return s.fill(branch, at, v)
			}
		}
	}
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = s.fill(schema["items"], pointer+"/items", item); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		return s.fillObject(schema, pointer, v)
	}
	return v, nil
}

func (s *Schema) fillObject(schema map[string]any, pointer string, v map[string]any) (any, error) {
	out := make(map[string]any, len(v))
	properties, _ := schema["properties"].(map[string]any)
	for key, member := range v {
		var err error
		if p, declared := properties[key]; declared {
			out[key], err = s.fill(p, pointer+"/properties/"+escape(key), member)
		} else {
			out[key], err = s.fill(schema["additionalProperties"], pointer+"/additionalProperties", member)
		}
		if err != nil {
			return nil, err
		}
	}
	for key, p := range properties {
		p, _ := p.(map[string]any)
		value, has := p["default"]
		if _, given := v[key]; given || !has {
			continue
		}
		value, err := decimals(clone(value), maxDefaultDepth)
		if err != nil {
			return nil, err
		}
		if out[key], err = s.fill(p, pointer+"/properties/"+escape(key), value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxDefaultDepth bounds what a manifest may write.
const maxDefaultDepth = 100

func clone(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = clone(v[k])
		}
		return out
	}
	return v
}
