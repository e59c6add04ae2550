package format

import (
	"math"
	"strconv"
	"strings"
)

const maxFloat = math.MaxFloat64

// Repr is repr(f): the shortest digits that read back as f.
func Repr(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	if _, exponent, _ := strings.Cut(s, "e"); true {
		if n, _ := strconv.Atoi(exponent); n < -4 || n >= 16 {
			return s
		}
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Float formats a float.
func (s Spec) Float(f float64) (string, error) {
	kind := s.Type
	switch kind {
	case 0, 'e', 'E', 'f', 'F', 'g', 'G', 'n', '%':
	default:
		return "", s.unknown("float")
	}
	number := f
	precision := s.Precision
	suffix := ""
	switch kind {
	case '%':
		number, kind, suffix = f*100, 'f', "%"
	case 'n':
		kind = 'g'
	}
	if precision < 0 {
		precision = 6
		if kind == 0 {
			precision = -1
		}
	}
	negative := math.Signbit(number) && !math.IsNaN(number)
	text := magnitude(math.Abs(number), kind, precision, s.Alternate)
	if s.Positive && negative && strings.Trim(text, "0.e+-") == "" {
		negative = false
	}
	if s.Type == 'E' || s.Type == 'F' || s.Type == 'G' {
		text = strings.ToUpper(text)
	}
	if math.IsInf(number, 0) || math.IsNaN(number) {
		finite := s
		finite.Grouping = 0
		return finite.digits(negative, "", "", text+suffix, 3), nil
	}
	whole, rest := text, ""
	if i := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		whole, rest = text[:i], text[i:]
	}
	return s.digits(negative, "", whole, rest+suffix, 3), nil
}

// magnitude writes f, which is not negative.
func magnitude(f float64, kind rune, precision int, alternate bool) string {
	switch {
	case math.IsInf(f, 0):
		return "inf"
	case math.IsNaN(f):
		return "nan"
	}
	switch kind {
	case 'e', 'E':
		s := strconv.FormatFloat(f, 'e', precision, 64)
		if alternate && precision == 0 {
			s = strings.Replace(s, "e", ".e", 1)
		}
		return s
	case 'f', 'F':
		s := strconv.FormatFloat(f, 'f', precision, 64)
		if alternate && precision == 0 {
			s += "."
		}
		return s
	case 'g', 'G':
		return general(f, max(precision, 1), alternate, false)
	}
	if precision < 0 {
		s := Repr(f)
		if alternate && !strings.ContainsAny(s, ".") {
			s = strings.Replace(s, "e", ".e", 1)
		}
		return s
	}
	return general(f, max(precision, 1), alternate, true)
}

// general is C's %g. With point, an integral result shows one digit behind it,
// which counts.
func general(f float64, precision int, alternate, point bool) string {
	s := strconv.FormatFloat(f, 'e', precision-1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	n, _ := strconv.Atoi(exponent)
	most := precision
	if point {
		most--
	}
	if n < -4 || n >= most {
		if !alternate {
			mantissa = trimmed(mantissa)
		} else if !strings.Contains(mantissa, ".") {
			mantissa += "."
		}
		return mantissa + "e" + exponent
	}
	s = strconv.FormatFloat(f, 'f', max(precision-1-n, 0), 64)
	if !alternate {
		s = trimmed(s)
		if point && !strings.Contains(s, ".") {
			s += ".0"
		}
	} else if !strings.Contains(s, ".") {
		s += "."
	}
	return s
}

// trimmed drops zeros at the end of a fraction.
func trimmed(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
