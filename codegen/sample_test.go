package codegen_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tinylib/msgp/msgp"
)

// sample is a value that has not been judged, in a form that neither JSON nor
// Starlark decides: it is written as both, and as wire bytes.
type sample struct {
	kind    byte   // one of the constants below
	text    string // of a string, of bytes their base64 text, of a number its digits
	items   []*sample
	keys    []string // of an object, one for each item
	program string   // what a program writes instead, if it is not empty
	json    string   // what a JSON client writes instead, if it is not empty
	nones   []string // members of an object that only a program names, with None
}

// What a sample is.
const (
	aNull  = 'n'
	aBool  = 't'
	anInt  = 'i'
	aFloat = 'f'
	aText  = 's'
	aBytes = 'b'
	aWide  = 'w' // an int of 64 bits in a program, a string of digits in JSON
	aList  = 'l'
	aDict  = 'o'

	yes, no = "true", "false"
)

// appendJSON writes s as a JSON client does.
func (s *sample) appendJSON(b []byte) []byte {
	switch {
	case s.json != "":
		return append(b, s.json...)
	case s.kind == aNull:
		return append(b, "null"...)
	case s.kind == aText || s.kind == aBytes || s.kind == aWide:
		quoted, err := json.Marshal(s.text)
		if err != nil {
			panic(err)
		}
		return append(b, quoted...)
	case s.kind == aList:
		b = append(b, '[')
		for i, item := range s.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	case s.kind == aDict:
		b = append(b, '{')
		for i, item := range s.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = (&sample{kind: aText, text: s.keys[i]}).appendJSON(b)
			b = append(b, ':')
			b = item.appendJSON(b)
		}
		return append(b, '}')
	}
	return append(b, s.text...)
}

// appendWire writes s as a worker that checks nothing would.
func (s *sample) appendWire(b []byte) []byte {
	switch s.kind {
	case aNull:
		return msgp.AppendNil(b)
	case aBool:
		return msgp.AppendBool(b, s.text == yes)
	case anInt:
		if n, err := strconv.ParseInt(s.text, 10, 64); err == nil && s.program == "" {
			return msgp.AppendInt64(b, n)
		}
		return msgp.AppendFloat64(b, s.float())
	case aFloat:
		return msgp.AppendFloat64(b, s.float())
	case aList:
		b = msgp.AppendArrayHeader(b, uint32(len(s.items)))
	case aDict:
		b = msgp.AppendMapHeader(b, uint32(len(s.items)))
	default:
		return msgp.AppendString(b, s.text)
	}
	for i, item := range s.items {
		if s.kind == aDict {
			b = msgp.AppendString(b, s.keys[i])
		}
		b = item.appendWire(b)
	}
	return b
}

func (s *sample) float() float64 {
	f, err := strconv.ParseFloat(s.text, 64)
	if err != nil {
		panic(err)
	}
	return f
}

// appendProgram writes s as a program does.
func (s *sample) appendProgram(b []byte) []byte {
	switch {
	case s.program == "(":
		b = append(b, '(')
		for _, item := range s.items {
			b = append(item.appendProgram(b), ',')
		}
		return append(b, ')')
	case s.program != "":
		return append(b, s.program...)
	case s.kind == aNull:
		return append(b, "None"...)
	case s.kind == aBool:
		return append(append(b, s.text[0]-'a'+'A'), s.text[1:]...)
	case s.kind == aText:
		return appendStarlark(b, s.text)
	case s.kind == aBytes:
		b = append(b, `b"`...)
		for _, c := range decodeBase64(s.text) {
			b = fmt.Appendf(b, `\x%02x`, c)
		}
		return append(b, '"')
	case s.kind == aList:
		b = append(b, '[')
		for _, item := range s.items {
			b = append(item.appendProgram(b), ',')
		}
		return append(b, ']')
	case s.kind == aDict:
		b = append(b, '{')
		s.eachMember(func(key string, value []byte) {
			b = append(appendStarlark(b, key), ':')
			b = append(append(b, value...), ',')
		})
		return append(b, '}')
	}
	return append(b, s.text...)
}

func (s *sample) eachMember(yield func(key string, value []byte)) {
	for i, item := range s.items {
		yield(s.keys[i], item.appendProgram(nil))
	}
	for _, key := range s.nones {
		yield(key, []byte("None"))
	}
}

// call is a program that calls the capability with the members of s.
func (s *sample) call(capability string) string {
	b := append([]byte(capability), '(')
	s.eachMember(func(key string, value []byte) {
		b = append(append(b, key...), '=')
		b = append(append(b, value...), ',')
	})
	return string(append(b, ')'))
}

func appendStarlark(b []byte, text string) []byte {
	b = append(b, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c < ' ' || c == 0x7F:
			b = fmt.Appendf(b, `\x%02x`, c)
		case c < 0x7F:
			b = append(b, byte(c))
		default:
			b = fmt.Appendf(b, `\U%08x`, c)
		}
	}
	return append(b, '"')
}

// find returns the member of an object, or nil.
func (s *sample) find(key string) *sample {
	for i, k := range s.keys {
		if k == key {
			return s.items[i]
		}
	}
	return nil
}

func (s *sample) add(key string, value *sample) {
	s.keys, s.items = append(s.keys, key), append(s.items, value)
}

func (s *sample) remove(i int) {
	s.items = append(s.items[:i:i], s.items[i+1:]...)
	if s.kind == aDict {
		s.keys = append(s.keys[:i:i], s.keys[i+1:]...)
	}
}

func (s *sample) String() string { return strings.ToValidUTF8(string(s.appendJSON(nil)), "?") }
