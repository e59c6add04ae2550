package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Refusal is why a text is refused whatever the schema says.
type Refusal struct{ Why string }

func (r *Refusal) Error() string { return "oracle: refused: " + r.Why }

// Read is the value of text, which has to be strict JSON (RFC 8259, in UTF-8,
// no member twice, no half of a surrogate pair, nothing before or behind) of at
// most maxDepth containers within each other, with no number that overflows a
// 64-bit float; else the error is a *Refusal. Another error means that those
// who should know do not agree on text.
//
// Each number is the shortest decimal of the float nearest to it, since that is
// the number that schemas are defined on: a validator that calculates exactly
// would hold 0.30000000000000000001 against multipleOf 0.1, and one that
// expands 1e999999999 would not return.
func Read(text []byte, maxDepth int) (any, error) {
	problem := strict(text)
	if _, known, err := second(text); known && (err == nil) != (problem == "") {
		return nil, fmt.Errorf("oracle: jsontext says %v, and encoding/json %q, of %q", err, problem, text)
	}
	if problem != "" {
		return nil, &Refusal{problem}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("oracle: read %q: %w", text, err)
	}
	v, err := decimals(v, maxDepth)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// decimals replaces the numbers inside of v.
func decimals(v any, levels int) (any, error) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return nil, &Refusal{"a number that overflows"}
		}
		return decimal(f, !strings.ContainsAny(v.String(), ".eE")), nil
	case []any:
		if levels == 0 {
			return nil, &Refusal{"depth"}
		}
		for i := range v {
			var err error
			if v[i], err = decimals(v[i], levels-1); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if levels == 0 {
			return nil, &Refusal{"depth"}
		}
		for k, member := range v {
			var err error
			if v[k], err = decimals(member, levels-1); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// decimal is the shortest decimal of f. A literal without fraction and exponent
// stays one: that is an integer to who must not round it.
func decimal(f float64, integral bool) json.Number {
	if a := math.Abs(f); integral || a >= 1e-6 && a < 1e21 {
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return json.Number(strconv.FormatFloat(f, 'e', -1, 64))
}

// strict says why text is no strict JSON; it is empty if it is.
func strict(text []byte) string {
	switch {
	case !json.Valid(text):
		return "no JSON"
	case !utf8.Valid(text):
		return "invalid UTF-8"
	case halfPair(text):
		return "half a surrogate pair"
	case duplicates(text):
		return "a member twice"
	}
	return ""
}

// halfPair looks in valid JSON for an escape of half a surrogate pair that does
// not stand beside the other half.
func halfPair(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if text[i+1] != 'u' {
			i++
			continue
		}
		unit, _ := strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
		i += 5
		if unit < 0xD800 || unit > 0xDFFF {
			continue
		}
		if unit >= 0xDC00 || i+6 >= len(text) || text[i+1] != '\\' || text[i+2] != 'u' {
			return true
		}
		if low, _ := strconv.ParseUint(string(text[i+3:i+7]), 16, 16); low < 0xDC00 || low > 0xDFFF {
			return true
		}
		i += 6
	}
	return false
}

// duplicates tells whether a member stands twice in any object of valid JSON.
func duplicates(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()              // or an overflow would end it
	var open []map[string]bool // nil for an array
	var key bool               // the next string is a member's name
	for {
		token, err := d.Token()
		if err != nil {
			return false // the end
		}
		switch token {
		case json.Delim('{'):
			open, key = append(open, map[string]bool{}), true
			continue
		case json.Delim('['):
			open, key = append(open, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if key {
				name := token.(string)
				if open[len(open)-1][name] {
					return true
				}
				open[len(open)-1][name], key = true, false
				continue
			}
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}

// RoundsToInteger tells whether text begins with a number that is no integer,
// and the float nearest to it is one. A decoder refuses it where an integer is
// asked for, though its shortest decimal would pass: what is rounded is not
// what was written.
func RoundsToInteger(text []byte) bool {
	n := 0
	for n < len(text) && strings.IndexByte("+-.0123456789eE", text[n]) >= 0 {
		n++
	}
	literal := string(text[:n])
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || f != math.Trunc(f) {
		return false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	e, err := strconv.Atoi(exponent)
	if exponent != "" && (err != nil || e < -1000 || e > 1000) {
		// Too far away to be written out: an integer only if it is zero.
		return strings.Trim(mantissa, "-0.") != ""
	}
	exact, ok := new(big.Rat).SetString(literal)
	return ok && !exact.IsInt()
}
