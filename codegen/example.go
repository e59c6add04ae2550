package codegen

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/schema"
)

// maxShown is the longest call, with its outcome or without, that a
// description shows, in bytes: it is one of many that a model reads.
const maxShown = 160

// checkExamples refuses examples that could not be written as programs.
func (p *planner) checkExamples(c *schema.Capability) {
	for _, e := range c.Examples {
		p.checkTexts(e.Pos, e.Title, e.Input, e.Output)
		_, err := exampleCall(c, e)
		if err == nil && e.Error == "" {
			_, err = resultJSON(c, e)
		}
		if err != nil || e.Error != "" && !errorCode.MatchString(e.Error) {
			p.fail(e.Pos, "example-value", "", "%s: the example %s is not of its types", c.Name, strconv.Quote(e.Title))
		}
	}
}

// describeExample is what describe_api shows: the first call, with what it
// returns or fails with behind it, as far as that is short enough.
//
//	records.lookup(key="a")  # {"count": 3, "key": "a"}
//	records.lookup(key="z")  # fails with not_found
func describeExample(c *schema.Capability) string {
	if len(c.Examples) == 0 {
		return ""
	}
	e := c.Examples[0]
	call, err := exampleCall(c, e)
	if err != nil || len(call) > maxShown {
		return "" // checkExamples has refused the former
	}
	outcome := "fails with " + e.Error
	if e.Error == "" {
		if outcome, err = resultLiteral(c, e); err != nil {
			return call
		}
	}
	if shown := call + "  # " + outcome; len(shown) <= maxShown {
		return shown
	}
	return call
}

// exampleCall is the call of an example as a program writes it, in the order
// of the signature. An argument that is its default is left out.
//
//	records.lookup(key="a")
func exampleCall(c *schema.Capability, e *schema.Example) (string, error) {
	v, err := parseJSON(e.Input)
	if err != nil {
		return "", err
	}
	arguments, ok := v.(map[string]any)
	if !ok {
		return "", errDefault
	}
	var words []string
	for _, p := range inputProperties(c.Input) {
		value, given := arguments[p.Name]
		delete(arguments, p.Name)
		if !given || p.Default != "" && isDefault(value, p.Default) {
			continue
		}
		word, err := literalOf(p.Type, value)
		if err != nil {
			return "", err
		}
		words = append(words, p.Name+"="+word)
	}
	if len(arguments) > 0 {
		return "", errDefault
	}
	return c.Name + "(" + strings.Join(words, ", ") + ")", nil
}

// isDefault compares canonical values.
func isDefault(v any, text string) bool {
	canonical, err := canon.CanonicalizeJSON(nil, []byte(jsonText(v)), maxNesting)
	return err == nil && string(canonical) == text
}

// literalOf is v, a value of t as JSON has it, as a program writes it; t is
// nil where nothing is known of it.
func literalOf(t *schema.Type, v any) (string, error) {
	if t = valueType(t, v); v == nil {
		return "None", nil
	}
	kind := schema.Opaque
	if t != nil {
		kind = t.Kind
	}
	switch v := v.(type) {
	case bool:
		return map[bool]string{true: "True", false: "False"}[v], nil
	case json.Number:
		return numberText(kind, v.String()), nil
	case string:
		return textLiteral(kind, v)
	case []any:
		return listLiteral(t, v)
	case map[string]any:
		return dictLiteral(t, v)
	}
	return "", errDefault
}

// numberText is written as a float where the digits are those of an integer
// that a program could not pass for one.
func numberText(kind schema.Kind, digits string) string {
	if kind == schema.Number && len(strings.TrimPrefix(digits, "-")) > 15 && !strings.ContainsAny(digits, ".e") {
		return digits + ".0"
	}
	return digits
}

func textLiteral(kind schema.Kind, text string) (string, error) {
	switch kind {
	case schema.Int64:
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return "", errDefault
		}
		return text, nil
	case schema.Bytes:
		if !canon.ValidBase64(text) {
			return "", errDefault
		}
		return binding.BytesLiteral(text), nil
	}
	return visible.Quote(text), nil
}

func listLiteral(t *schema.Type, list []any) (string, error) {
	words := make([]string, len(list))
	for i, item := range list {
		var err error
		if words[i], err = literalOf(itemType(t), item); err != nil {
			return "", err
		}
	}
	return "[" + strings.Join(words, ", ") + "]", nil
}

func dictLiteral(t *schema.Type, members map[string]any) (string, error) {
	var words []string
	for _, key := range memberNames(t, members) {
		word, err := literalOf(memberType(t, key), members[key])
		if err != nil {
			return "", err
		}
		words = append(words, visible.Quote(key)+": "+word)
	}
	return "{" + strings.Join(words, ", ") + "}", nil
}

// memberNames are the keys of an object in declaration order, of any other
// in canonical order.
func memberNames(t *schema.Type, members map[string]any) []string {
	if t == nil || t.Kind != schema.Object {
		return slices.SortedFunc(maps.Keys(members), canon.CompareKeys)
	}
	var names []string
	for _, p := range t.Properties {
		if _, given := members[p.Name]; given {
			names = append(names, p.Name)
		}
	}
	return names
}

// seen is what a program sees of an example's output: what is kept of it, and
// cut if it has too many items. A limit in bytes counts the wire encoding: an
// example beyond it fails in the generated test.
func seen(c *schema.Capability, e *schema.Example) (any, error) {
	v, err := parseJSON(e.Output)
	if err != nil || !c.IsShaped() {
		return v, err
	}
	if c.Limits != nil {
		if v, err = cutOf(c, v); err != nil {
			return nil, err
		}
	}
	return keptOf(c.Result(), v), nil
}

// cutOf is the record {items, next, truncated} of an output, as
// runtime/shaping makes it; next is there with pagination only.
func cutOf(c *schema.Capability, output any) (any, error) {
	record := map[string]any{}
	if p := c.Pagination; p != nil {
		page, _ := output.(map[string]any)
		output = page[p.Items]
		if next := page[p.CursorOut]; next != "" {
			record["next"] = next
		} else {
			record["next"] = nil
		}
	}
	items, ok := output.([]any)
	if !ok {
		return nil, errDefault
	}
	record["items"], record["truncated"] = items, false
	if most := c.Limits.Items; most > 0 && len(items) > most {
		record["items"], record["truncated"] = items[:most], true
		if c.Pagination != nil {
			record["next"] = nil
		}
	}
	return record, nil
}

// keptOf is v without the members that t does not have.
func keptOf(t *schema.Type, v any) any {
	t = valueType(t, v)
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			v[i] = keptOf(itemType(t), item)
		}
	case map[string]any:
		for key, member := range v {
			inner := memberType(t, key)
			if inner == nil && t != nil && t.Kind == schema.Object {
				delete(v, key)
				continue
			}
			v[key] = keptOf(inner, member)
		}
	}
	return v
}

// resultJSON is the result of an example as a program returns it: an integer
// of 64 bits is a number, as far as that is exact. A run's is JSON to a program.
func resultJSON(c *schema.Capability, e *schema.Example) (string, error) {
	v, err := seen(c, e)
	if err != nil {
		return "", err
	}
	if c.Run != nil {
		return jsonText(v), nil
	}
	if v, err = resultOf(c.Result(), v); err != nil {
		return "", err
	}
	return jsonText(v), nil
}

// resultLiteral is the result of an example as a program writes it.
func resultLiteral(c *schema.Capability, e *schema.Example) (string, error) {
	v, err := seen(c, e)
	if err != nil {
		return "", err
	}
	return literalOf(c.Result(), v)
}

func resultOf(t *schema.Type, v any) (out any, err error) {
	t = valueType(t, v)
	switch v := v.(type) {
	case string:
		if t == nil || t.Kind != schema.Int64 {
			return v, nil
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if n > impliedInteger || n < -impliedInteger {
			return v, err
		}
		return json.Number(v), err
	case []any:
		for i, item := range v {
			if v[i], err = resultOf(itemType(t), item); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key, member := range v {
			if v[key], err = resultOf(memberType(t, key), member); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// valueType is what t says of v without references, nulls and unions; nil if
// it says nothing.
func valueType(t *schema.Type, v any) *schema.Type {
	for t != nil {
		switch t.Kind {
		case schema.Ref:
			t = t.Ref.Type
		case schema.Nullable:
			t = t.Items
		case schema.Union:
			t = variantOf(t, v)
		default:
			return t
		}
	}
	return nil
}

// variantOf is the variant that v is of.
func variantOf(t *schema.Type, v any) *schema.Type {
	members, _ := v.(map[string]any)
	for i, w := range t.Variants {
		if t.Tag != "" && members[t.Tag] == t.Tags[i] || t.Tag == "" && schema.JSONType(resolved(w)) == jsonTypeOf(v) {
			return w
		}
	}
	return nil
}

func jsonTypeOf(v any) string {
	switch v.(type) {
	case bool:
		return string(schema.Boolean)
	case json.Number:
		return string(schema.Number)
	case string:
		return string(schema.String)
	case []any:
		return string(schema.Array)
	}
	return string(schema.Object)
}

func itemType(t *schema.Type) *schema.Type {
	if t != nil && t.Kind == schema.Array {
		return t.Items
	}
	return nil
}

func memberType(t *schema.Type, key string) *schema.Type {
	switch {
	case t == nil:
		return nil
	case t.Kind == schema.Map:
		return t.Items
	}
	for _, p := range t.Properties {
		if p.Name == key {
			return p.Type
		}
	}
	return nil
}

// ExampleForm is an example as JSON has it: its input and output are canonical.
type ExampleForm struct {
	Title  string          `json:"title"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// digestedExamples are the examples of c as texts: canonical JSON may hold
// whole numbers that are floats, and too large for the integers of a digest.
func digestedExamples(c *schema.Capability) []string {
	var out []string
	for _, e := range c.Examples {
		out = append(out, jsonText([]string{e.Title, e.Input, e.Output, e.Error}))
	}
	return out
}

// ExampleForms are the examples of c; nil for none.
func ExampleForms(c *schema.Capability) []ExampleForm {
	var out []ExampleForm
	for _, e := range c.Examples {
		out = append(out, ExampleForm{e.Title, json.RawMessage(e.Input), json.RawMessage(e.Output), e.Error})
	}
	return out
}

// examples writes what a reviewer reads of them: the call and its outcome.
//
//	records.lookup example "One record" call records.lookup(key="a")
//	records.lookup example "One record" returns {"count": 3, "key": "a"}
func (l lockWriter) examples(c *schema.Capability) {
	for _, e := range c.Examples {
		title := visible.Quote(e.Title)
		call, err := exampleCall(c, e)
		if err != nil {
			continue // checkExamples has refused it
		}
		l.line("example", title, "call", visible.Text(call))
		if e.Error != "" {
			l.line("example", title, "fails", e.Error)
			continue
		}
		if result, err := resultLiteral(c, e); err == nil {
			l.line("example", title, "returns", visible.Text(result))
		}
	}
}
