package codegen

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

var errDefault = errors.New("the default is not a value of its type")

// defaultOf is the Go expression of a property's default. Members that the
// default leaves out are filled with their own defaults, as decoding does.
//
//	[]string{"a", "b"}
//	ListInputFilter{Depth: 3, Name: canon.Some[string]("x")}
func (b *builder) defaultOf(name string, prop *schema.Property) jen.Code {
	code, err := b.literalText(b.pkg, name, prop.Type, prop.Default)
	if err != nil {
		b.fail(prop.Pos, "default-value", "", "property %s: %v", prop.Name, err)
		return jen.Null()
	}
	return code
}

func (p *planner) literalText(pkg, name string, t *schema.Type, text string) (jen.Code, error) {
	v, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	return p.literal(pkg, name, t, v)
}

func parseJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errDefault
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errDefault
	}
	return v, nil
}

// literal is the Go expression of v as a t at a place called name in package pkg.
func (p *planner) literal(pkg, name string, t *schema.Type, v any) (jen.Code, error) {
	expr, inPlace := typeExpr(p.typ(pkg, name, t, false)), t.Kind != schema.Ref
	for t.Kind == schema.Ref {
		pkg, name, t = p.typesPath(), p.typeNames[t.Ref], t.Ref.Type
	}
	if t.Kind == schema.Nullable {
		return p.nullableLiteral(expr, pkg, name, t, v)
	}
	if t.Kind == schema.Opaque {
		return opaqueLiteral(expr, inPlace, v)
	}
	if t.Kind == schema.Union {
		return p.unionLiteral(expr, pkg, name, t, v)
	}
	switch v := v.(type) {
	case map[string]any:
		if t.Kind == schema.Map {
			return p.mapLiteral(expr, pkg, name, t, v)
		}
		if t.Kind == schema.FreeObject {
			return freeLiteral(expr, v)
		}
		return p.objectLiteral(expr, pkg, name, t, v)
	case []any:
		return p.arrayLiteral(expr, pkg, name, t, v)
	case string:
		switch t.Kind {
		case schema.Int64:
			return int64Literal(t, v)
		case schema.Bytes:
			return bytesLiteral(v)
		}
		if t.Kind != schema.String || len(t.Enum) > 0 && !t.Open && !slices.Contains(t.Enum, v) {
			return nil, errDefault
		}
		return text(v), nil
	case bool:
		if t.Kind != schema.Boolean || t.Const != "" && t.Const != strconv.FormatBool(v) {
			return nil, errDefault
		}
		return jen.Lit(v), nil
	case json.Number:
		return numberLiteral(t, v.String())
	}
	return nil, errDefault
}

// int64Literal is the integer that a default of digits stands for.
func int64Literal(t *schema.Type, text string) (jen.Code, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < t.Minimum || n > t.Maximum || strconv.FormatInt(n, 10) != text {
		return nil, errDefault
	}
	return jen.Op(text), nil
}

// bytesLiteral
//
//	[]byte("a\x00")
func bytesLiteral(text string) (jen.Code, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errDefault
	}
	if len(b) == 0 {
		return jen.Nil(), nil // as decoding leaves no bytes
	}
	return jen.Index().Byte().Call(jen.Op(strconv.QuoteToASCII(string(b)))), nil
}

func numberLiteral(t *schema.Type, text string) (jen.Code, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errDefault
	}
	switch t.Kind {
	case schema.Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			if f != float64(int64(f)) || f < -1<<53 || f > 1<<53 {
				return nil, errDefault
			}
			n = int64(f) // 1.0, 1e2
		}
		if n < t.Minimum || n > t.Maximum {
			return nil, errDefault
		}
		return jen.Op(strconv.FormatInt(n, 10)), nil
	case schema.Number:
		return jen.Op(strconv.FormatFloat(f, 'g', -1, 64)), nil
	}
	return nil, errDefault
}

// nullableLiteral
//
//	canon.Nullable[string]{Value: "a", Valid: true}
func (p *planner) nullableLiteral(expr jen.Code, pkg, name string, t *schema.Type, v any) (jen.Code, error) {
	if v == nil {
		return jen.Add(expr).Values(), nil
	}
	code, err := p.literal(pkg, name+"Value", t.Items, v)
	if err != nil {
		return nil, err
	}
	return jen.Add(expr).Values(jen.Id("Value").Op(":").Add(code), jen.Id("Valid").Op(":").True()), nil
}

func (p *planner) arrayLiteral(expr jen.Code, pkg, name string, t *schema.Type, v []any) (jen.Code, error) {
	if t.Kind != schema.Array {
		return nil, errDefault
	}
	if len(v) == 0 {
		return jen.Nil(), nil // as decoding leaves an empty array
	}
	var elems []jen.Code
	for _, e := range v {
		code, err := p.literal(pkg, name+"Item", t.Items, e)
		if err != nil {
			return nil, err
		}
		elems = append(elems, code)
	}
	return jen.Add(expr).Values(elems...), nil
}

func (p *planner) objectLiteral(expr jen.Code, pkg, name string, t *schema.Type, v map[string]any) (jen.Code, error) {
	if t.Kind != schema.Object {
		return nil, errDefault
	}
	var members []jen.Code
	used := 0
	for _, prop := range t.Properties {
		value, given := v[prop.Name]
		if given {
			used++
		} else if prop.Default != "" {
			var err error
			if value, err = parseJSON(prop.Default); err != nil {
				return nil, err
			}
		} else if prop.Required {
			return nil, errDefault
		} else {
			continue
		}
		field := goName(prop.Name)
		code, err := p.literal(pkg, name+field, prop.Type, value)
		if err != nil {
			return nil, err
		}
		held := p.member(pkg, name+field, prop.Type)
		if held.pointer {
			code = jen.Op("&").Add(code)
		}
		if !prop.Required && prop.Default == "" {
			code = jen.Qual(canonPath, "Some").Types(typeExpr(held)).Call(code)
		}
		members = append(members, jen.Id(field).Op(":").Add(code))
	}
	if used != len(v) {
		return nil, errDefault
	}
	return jen.Add(expr).Values(members...), nil
}
