package format

import (
	"fmt"
	"unicode/utf8"
)

// MaxWidth bounds width and precision, in characters. CPython takes more, and
// then runs out of memory.
const MaxWidth = 1 << 20

// Error is why something cannot be formatted.
type Error struct {
	// Kind is CPython's exception: ValueError, TypeError or OverflowError.
	Kind, Message string
}

func (e *Error) Error() string { return e.Message }

func valueError(format string, args ...any) *Error {
	return &Error{"ValueError", fmt.Sprintf(format, args...)}
}

// Spec is a format specification.
type Spec struct {
	Fill  rune // 0: none is given
	Align byte // < > = ^, 0: none is given
	Sign  byte // + - space, 0: none is given
	// Positive is z: what rounds to zero has no sign.
	Positive bool
	// Alternate is #.
	Alternate bool
	// Zero is a 0 before the width.
	Zero      bool
	Width     int  // -1: none is given
	Grouping  byte // , or _, 0: none is given
	Precision int  // -1: none is given
	Type      rune // 0: none is given
	text      string
}

// Parse reads a specification. An empty one is valid.
func Parse(s string) (Spec, error) {
	spec := Spec{Width: -1, Precision: -1, text: s}
	rest := s
	if first, size := utf8.DecodeRuneInString(rest); size < len(rest) && isAlign(rest[size]) {
		spec.Fill, spec.Align = first, rest[size]
		rest = rest[size+1:]
	} else if rest != "" && isAlign(rest[0]) {
		spec.Align = rest[0]
		rest = rest[1:]
	}
	take := func(options string) byte {
		for i := range len(options) {
			if rest != "" && rest[0] == options[i] {
				rest = rest[1:]
				return options[i]
			}
		}
		return 0
	}
	spec.Sign = take("+- ")
	spec.Positive = take("z") != 0
	spec.Alternate = take("#") != 0
	spec.Zero = spec.Fill == 0 && take("0") != 0
	var err error
	if spec.Width, rest, err = number(rest); err != nil {
		return spec, err
	}
	spec.Grouping = take(",_")
	if second := take(",_"); spec.Grouping != 0 && second != 0 {
		if second == spec.Grouping {
			return spec, valueError("Cannot specify '%c' with '%c'.", second, second)
		}
		return spec, valueError("Cannot specify both ',' and '_'.")
	}
	if take(".") != 0 {
		if spec.Precision, rest, err = number(rest); err != nil {
			return spec, err
		}
		if spec.Precision < 0 {
			return spec, valueError("Format specifier missing precision")
		}
	}
	if r, size := utf8.DecodeRuneInString(rest); rest != "" {
		if size < len(rest) {
			return spec, &Error{"ValueError", invalid} // its type is not known here
		}
		spec.Type = r
	}
	switch spec.Type {
	case 0, 'd', 'e', 'E', 'f', 'F', 'g', 'G', '%':
	case 'b', 'o', 'x', 'X':
		if spec.Grouping == ',' {
			return spec, spec.noGrouping()
		}
	default:
		if spec.Grouping != 0 {
			return spec, spec.noGrouping()
		}
	}
	return spec, nil
}

func (s *Spec) noGrouping() error {
	return valueError("Cannot specify '%c' with '%c'.", s.Grouping, s.Type)
}

// invalid marks an error whose text the type of the value completes.
const invalid = "Invalid format specifier"

// Complete makes of an error of Parse the text that CPython has for a value of
// that type.
func Complete(err error, spec, typeName string) error {
	if e, ok := err.(*Error); ok && e.Message == invalid {
		return valueError("Invalid format specifier '%s' for object of type '%s'", spec, typeName)
	}
	return err
}

func isAlign(c byte) bool { return c == '<' || c == '>' || c == '=' || c == '^' }

// number reads digits; -1 if there are none.
func number(s string) (int, string, error) {
	n, i := 0, 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if n = n*10 + int(s[i]-'0'); n > MaxWidth {
			return 0, s, valueError("Too many decimal digits in format string")
		}
	}
	if i == 0 {
		return -1, s, nil
	}
	return n, s[i:], nil
}

// unknown is the error for a type that does not fit.
func (s *Spec) unknown(typeName string) error {
	if s.Type > 32 && s.Type < 127 {
		return valueError("Unknown format code '%c' for object of type '%s'", s.Type, typeName)
	}
	return valueError("Unknown format code '\\x%x' for object of type '%s'", s.Type, typeName)
}

// pad fills text up to the width; the first prefix bytes stay left of what =
// inserts.
func (s *Spec) pad(text string, prefix int, align byte) string {
	missing := s.Width - utf8.RuneCountInString(text)
	if missing <= 0 {
		return text
	}
	if s.Align != 0 {
		align = s.Align
	}
	fill := s.Fill
	if fill == 0 {
		fill = ' '
		if s.Zero {
			fill = '0'
		}
	}
	switch align {
	case '<':
		return text + repeat(fill, missing)
	case '^':
		return repeat(fill, missing/2) + text + repeat(fill, missing-missing/2)
	case '=':
		return text[:prefix] + repeat(fill, missing) + text[prefix:]
	}
	return repeat(fill, missing) + text
}

func repeat(r rune, n int) string {
	b := make([]byte, 0, n*utf8.RuneLen(r))
	for range n {
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}
