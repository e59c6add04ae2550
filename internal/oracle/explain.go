package oracle

import (
	"slices"
	"strconv"
	"strings"

	"github.com/capgen/capgen/runtime/canon"
)

// keywords are what a code of runtime/canon stands for.
func keywords(code canon.Code) []string {
	switch code {
	case canon.CodeType:
		return []string{"type", "oneOf", "anyOf"}
	case canon.CodeMissing:
		return []string{"required"}
	case canon.CodeUnknown:
		return []string{"additionalProperties"}
	case canon.CodeDuplicate:
		return []string{"uniqueItems"}
	case canon.CodeRange:
		return []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format", opaqueKeyword}
	case canon.CodeLength:
		return []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "propertyNames"}
	case canon.CodePattern:
		return []string{"pattern", "format", "propertyNames"}
	case canon.CodeEnum:
		return []string{"enum", "const", "propertyNames"}
	}
	return nil
}

// Explains tells whether one of found is at e's place and of e's kind.
func Explains(found []Violation, e *canon.Error) bool {
	path, allowed := steps(e.Path), keywords(e.Code)
	return slices.ContainsFunc(found, func(v Violation) bool {
		if !slices.Contains(allowed, v.Keyword) {
			return false
		}
		if v.Keyword == "propertyNames" {
			// The validator keeps no copy of where the object is: only how
			// deep it is, and the name, can be trusted.
			return len(v.Path) == len(path) && path[len(path)-1].is(v.Path[len(path)-1])
		}
		return slices.EqualFunc(path, v.Path, step.is)
	})
}

// step is one token of a path: a member, or an index in decimal.
type step struct {
	text string
	cut  bool // text is only the beginning
}

func (s step) is(token string) bool {
	return s.text == token || s.cut && strings.HasPrefix(token, s.text)
}

const ellipsis = "…"

// steps takes apart a path as runtime/canon writes it: a.b[0]['c d'].
func steps(path string) []step {
	var out []step
	for path != "" {
		switch {
		case strings.HasPrefix(path, "['"):
			var s step
			s, path = quotedStep(path[2:])
			out = append(out, s)
		case path[0] == '[':
			index, rest, _ := strings.Cut(path[1:], "]")
			out, path = append(out, step{text: index}), rest
		default:
			path = strings.TrimPrefix(path, ".")
			n := strings.IndexAny(path, ".[")
			if n < 0 {
				n = len(path)
			}
			out, path = append(out, step{text: path[:n]}), path[n:]
		}
	}
	return out
}

// quotedStep reads a key up to its closing quote and bracket.
func quotedStep(path string) (s step, rest string) {
	var b strings.Builder
	for path != "" && path[0] != '\'' {
		if strings.HasPrefix(path, ellipsis+"'") {
			s.cut, path = true, path[len(ellipsis):]
			break
		}
		r, multibyte, tail, err := strconv.UnquoteChar(path, '\'')
		if err != nil {
			break
		}
		if multibyte || r < 0x80 {
			b.WriteRune(r)
		} else {
			b.WriteByte(byte(r))
		}
		path = tail
	}
	s.text = b.String()
	return s, strings.TrimPrefix(path, "']")
}
