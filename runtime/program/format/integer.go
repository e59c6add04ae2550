package format

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// Int formats an int. The result has about as many digits as n in that base:
// the caller bounds n.
func (s Spec) Int(n *big.Int) (string, error) {
	switch s.Type {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		f, _ := new(big.Float).SetInt(n).Float64()
		if f > maxFloat || f < -maxFloat {
			return "", &Error{"OverflowError", "int too large to convert to float"}
		}
		return s.Float(f)
	case 0, 'd', 'n', 'b', 'o', 'x', 'X', 'c':
	default:
		return "", s.unknown("int")
	}
	if s.Precision >= 0 {
		return "", valueError("Precision not allowed in integer format specifier")
	}
	if s.Positive {
		return "", valueError("Negative zero coercion (z) not allowed in integer format specifier")
	}
	if s.Type == 'c' {
		return s.character(n)
	}
	base, prefix := 10, ""
	switch s.Type {
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x':
		base, prefix = 16, "0x"
	case 'X':
		base, prefix = 16, "0X"
	}
	group := 3
	if base != 10 {
		group = 4
	}
	digits := new(big.Int).Abs(n).Text(base)
	if s.Type == 'X' {
		digits = strings.ToUpper(digits)
	}
	if !s.Alternate {
		prefix = ""
	}
	return s.digits(n.Sign() < 0, prefix, digits, "", group), nil
}

func (s *Spec) character(n *big.Int) (string, error) {
	switch {
	case s.Sign != 0:
		return "", valueError("Sign not allowed with integer format specifier 'c'")
	case s.Alternate:
		return "", valueError("Alternate form (#) not allowed with integer format specifier 'c'")
	case !n.IsInt64():
		return "", &Error{"OverflowError", "Python int too large to convert to C long"}
	case n.Int64() < 0 || n.Int64() > utf8.MaxRune:
		return "", &Error{"OverflowError", "%c arg not in range(0x110000)"}
	case !utf8.ValidRune(rune(n.Int64())):
		return "", valueError("U+%04X is no character", n.Int64())
	}
	return s.pad(string(rune(n.Int64())), 0, '<'), nil
}

// digits puts a number together: sign, prefix, whole digits in groups, and
// what follows them.
func (s *Spec) digits(negative bool, prefix, whole, rest string, group int) string {
	sign := ""
	switch {
	case negative:
		sign = "-"
	case s.Sign == '+' || s.Sign == ' ':
		sign = string(s.Sign)
	}
	zeros := 0
	if s.zeroPadded() {
		zeros = s.Width - len(sign) - len(prefix) - len(rest)
	}
	if s.Grouping != 0 {
		whole = grouped(whole, s.Grouping, group, zeros)
	} else if missing := zeros - len(whole); missing > 0 {
		whole = strings.Repeat("0", missing) + whole
	}
	return s.pad(sign+prefix+whole+rest, len(sign)+len(prefix), '>')
}

// zeroPadded tells whether zeros fill the width, which grouping counts.
func (s *Spec) zeroPadded() bool {
	return s.Zero && s.Align == 0 || s.Align == '=' && (s.Fill == '0' || s.Fill == 0 && s.Zero)
}

// grouped separates digits, with zeros before them until there are at least
// so many characters; a separator never comes first.
func grouped(digits string, separator byte, group, least int) string {
	out := make([]byte, 0, max(least, len(digits)*2)+1)
	count := 0
	for i := len(digits) - 1; i >= 0 || len(out) < least; i-- {
		if count > 0 && count%group == 0 {
			out = append(out, separator)
		}
		if i >= 0 {
			out = append(out, digits[i])
		} else {
			out = append(out, '0')
		}
		count++
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}
