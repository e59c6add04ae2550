package oracle

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/message"

	"github.com/capgen/capgen/runtime/canon"
)

// rules compiles what effective schemas say in words that JSON Schema leaves
// to those who define them:
//   - format, by the functions of runtime/canon;
//   - format int64 with formatMinimum, formatMaximum and multipleOf: the string
//     is the decimal text of such an integer;
//   - x-opaque, and additionalProperties true: no integer inside is outside
//     ±(2^53−1), whether it is written as one or RFC 8785 would write it so.
//
// The package's own format keyword is not used, because it stops at the first
// problem of a value.
func rules(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
	format, _ := schema["format"].(string)
	switch {
	case format == "int64":
		r := &int64Rule{low: integer(schema["formatMinimum"]), high: integer(schema["formatMaximum"]), step: integer(schema["multipleOf"])}
		return r, nil
	case format != "":
		return formatRule(format), nil
	case schema[opaqueKeyword] == true || schema["additionalProperties"] == true:
		return opaqueRule{}, nil
	}
	return nil, nil
}

const opaqueKeyword = "x-opaque"

type formatRule canon.Format

func (r formatRule) Validate(ctx *jsonschema.ValidatorContext, v any) {
	if s, ok := v.(string); ok && !canon.Format(r).Valid(s) {
		ctx.AddError(&kind.Format{Got: v, Want: string(r)})
	}
}

type int64Rule struct{ low, high, step *big.Int }

func (r *int64Rule) Validate(ctx *jsonschema.ValidatorContext, v any) {
	s, ok := v.(string)
	if !ok {
		return
	}
	n := integer(s)
	if n == nil || n.String() != s || !n.IsInt64() || n.Cmp(r.low) < 0 || n.Cmp(r.high) > 0 ||
		r.step != nil && new(big.Int).Rem(n, r.step).Sign() != 0 {
		ctx.AddError(&kind.Format{Got: v, Want: "int64"})
	}
}

// integer is the value of a decimal text, nil if it is none.
func integer(v any) *big.Int {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil
	}
	return n
}

type opaqueRule struct{}

func (opaqueRule) Validate(ctx *jsonschema.ValidatorContext, v any) {
	widest := big.NewInt(1<<53 - 1)
	var look func(v any, at []string)
	look = func(v any, at []string) {
		switch v := v.(type) {
		case json.Number:
			if n := integer(v); n != nil && n.CmpAbs(widest) > 0 {
				ctx.AddError(&wide{append([]string(nil), at...)})
			}
		case []any:
			for i, item := range v {
				look(item, append(at, strconv.Itoa(i)))
			}
		case map[string]any:
			for key, member := range v {
				look(member, append(at, key))
			}
		}
	}
	look(v, nil)
}

// wide is an integer in an opaque value that readers would round.
type wide struct{ at []string }

func (*wide) KeywordPath() []string { return []string{opaqueKeyword} }

func (w *wide) LocalizedString(p *message.Printer) string {
	return p.Sprintf("an integer outside ±(2^53−1) at %s", strings.Join(w.at, "/"))
}
