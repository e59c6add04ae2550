package format

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Piece is a part of a str.format template: a text, or a field.
type Piece struct {
	Text    string
	IsField bool
	// Name is the field's name up to ! or :, empty for the next argument.
	Name       string
	Conversion byte // s, r, a, or 0
	// Spec is the format specification, which may hold fields again.
	Spec string
}

// Template reads a str.format template.
func Template(s string) ([]Piece, error) {
	var out []Piece
	text := &strings.Builder{}
	flush := func() {
		if text.Len() > 0 {
			out = append(out, Piece{Text: text.String()})
			text.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c != '{' && c != '}':
			text.WriteByte(c)
			continue
		case i+1 < len(s) && s[i+1] == c:
			text.WriteByte(c)
			i++
			continue
		case c == '}':
			return nil, valueError("Single '}' encountered in format string")
		}
		flush()
		p, end, err := templateField(s, i+1)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
		i = end
	}
	flush()
	return out, nil
}

// templateField reads a field behind its brace; end is the closing one.
func templateField(s string, start int) (p Piece, end int, err error) {
	p.IsField = true
	if start >= len(s) {
		return p, 0, valueError("Single '{' encountered in format string")
	}
	depth, brackets := 1, false
	nameEnd, specStart := -1, -1
	i := start
	for ; i < len(s) && depth > 0; i++ {
		switch c := s[i]; {
		case nameEnd < 0 && c == '[':
			brackets = true
		case nameEnd < 0 && c == ']':
			brackets = false
		case nameEnd < 0 && brackets:
		case c == '{':
			if nameEnd < 0 {
				return p, 0, valueError("unexpected '{' in field name")
			}
			depth++
		case c == '}':
			depth--
		case nameEnd < 0 && (c == '!' || c == ':'):
			nameEnd = i
			if c == ':' {
				specStart = i + 1
				break
			}
			if i+1 >= len(s) {
				return p, 0, valueError("end of string while looking for conversion specifier")
			}
			conversion, size := utf8.DecodeRuneInString(s[i+1:])
			if conversion == '}' {
				return p, 0, valueError("unmatched '{' in format spec")
			}
			next := i + 1 + size
			if next >= len(s) {
				return p, 0, valueError("unmatched '{' in format spec")
			}
			if s[next] != ':' && s[next] != '}' {
				return p, 0, valueError("expected ':' after conversion specifier")
			}
			if conversion != 's' && conversion != 'r' && conversion != 'a' {
				shown := string(conversion)
				if conversion <= ' ' || conversion >= 0x7f {
					shown = fmt.Sprintf("\\x%x", conversion)
				}
				return p, 0, valueError("Unknown conversion specifier %s", shown)
			}
			p.Conversion = byte(conversion)
			i = next - 1
			if s[next] == ':' {
				specStart = next + 1
				i = next
			}
		}
	}
	if depth > 0 {
		return p, 0, valueError("expected '}' before end of string")
	}
	end = i - 1
	if nameEnd < 0 {
		nameEnd = end
	}
	p.Name = s[start:nameEnd]
	if specStart >= 0 {
		p.Spec = s[specStart:end]
	}
	return p, end, nil
}

// Directive is a part of a % template: a text, or a conversion.
type Directive struct {
	Text  string
	IsKey bool
	Key   string
	Spec  Spec
	// StarWidth and StarPrecision take the next argument.
	StarWidth, StarPrecision bool
	// Conversion is 0 for a text, % for a percent sign.
	Conversion byte
	// Offset is where the conversion's letter stands, in bytes.
	Offset int
	// Err is what is wrong with the directive; where it has a Conversion, its
	// argument is taken first.
	Err error
}

// Percent reads a % template. The last directive tells what is wrong with it,
// which CPython finds only when it comes there.
func Percent(s string) []Directive {
	var out []Directive
	for s0, i := 0, 0; ; i++ {
		if i >= len(s) || s[i] == '%' {
			if i > s0 {
				out = append(out, Directive{Text: s[s0:i]})
			}
			if i >= len(s) {
				return out
			}
			d, next, err := directive(s, i+1)
			if err != nil {
				return append(out, Directive{Err: err})
			}
			out = append(out, d)
			i, s0 = next-1, next
		}
	}
}

func directive(s string, i int) (d Directive, next int, err error) {
	d.Spec = Spec{Width: -1, Precision: -1}
	incomplete := valueError("incomplete format")
	begin := i
	if i < len(s) && s[i] == '(' {
		depth, start := 1, i+1
		for i++; i < len(s) && depth > 0; i++ {
			switch s[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		if depth > 0 {
			return d, 0, valueError("incomplete format key")
		}
		d.IsKey, d.Key = true, s[start:i-1]
	}
flags:
	for ; i < len(s); i++ {
		switch s[i] {
		case '-':
			d.Spec.Align = '<'
		case '+':
			d.Spec.Sign = '+'
		case ' ':
			if d.Spec.Sign == 0 {
				d.Spec.Sign = ' '
			}
		case '#':
			d.Spec.Alternate = true
		case '0':
			d.Spec.Zero = true
		default:
			break flags
		}
	}
	size := func(star *bool) (n int, err error) {
		if i < len(s) && s[i] == '*' {
			*star = true
			i++
			return -1, nil
		}
		n, rest, err := number(s[i:])
		if err != nil {
			return 0, err
		}
		i = len(s) - len(rest)
		return n, nil
	}
	if d.Spec.Width, err = size(&d.StarWidth); err != nil {
		return d, 0, err
	}
	if i < len(s) && s[i] == '.' {
		i++
		if d.Spec.Precision, err = size(&d.StarPrecision); err != nil {
			return d, 0, err
		}
		if !d.StarPrecision {
			d.Spec.Precision = max(d.Spec.Precision, 0)
		}
	}
	for i < len(s) && (s[i] == 'l' || s[i] == 'h' || s[i] == 'L') {
		i++
	}
	if i >= len(s) {
		return d, 0, incomplete
	}
	d.Conversion, d.Offset = s[i], i
	r, width := utf8.DecodeRuneInString(s[i:])
	switch d.Conversion {
	case 'd', 'i', 'u', 'o', 'x', 'X', 'e', 'E', 'f', 'F', 'g', 'G', 'c', 'r', 's', 'a':
		return d, i + 1, nil
	case '%':
		if i == begin {
			return d, i + 1, nil
		}
		d.Conversion = 'z' // no percent sign, but a conversion that there is not
	}
	shown := r
	if r < ' ' || r >= 0x7f {
		shown = '?'
	}
	d.Err = valueError("unsupported format character '%c' (0x%x) at index %d", shown, r, utf8.RuneCountInString(s[:i]))
	return d, i + width, nil
}
