package text

import (
	"unicode"
)

// every is what the is… methods ask of each character; none is false.
func every(s string, f func(rune) bool) bool {
	for _, r := range s {
		if !f(r) {
			return false
		}
	}
	return s != ""
}

// IsAlpha is s.isalpha().
func IsAlpha(s string) bool { return every(s, isAlpha) }

func isAlpha(r rune) bool {
	return unicode.In(r, unicode.Lm, unicode.Lt, unicode.Lu, unicode.Ll, unicode.Lo)
}

// IsDecimal is s.isdecimal().
func IsDecimal(s string) bool { return every(s, isDecimal) }

func isDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }

// IsDigit is s.isdigit(): decimal digits, and those in super- and subscript or
// in circles (Numeric_Type=Digit).
func IsDigit(s string) bool { return every(s, isDigit) }

func isDigit(r rune) bool {
	switch {
	case isDecimal(r), r == '²', r == '³', r == '¹', r == '⁰', r >= '⁴' && r <= '⁹', r >= '₀' && r <= '₉':
		return true
	case r >= 0x1369 && r <= 0x1371, r == 0x19da, r >= '①' && r <= '⑨', r >= '⑴' && r <= '⑼', r >= '⒈' && r <= '⒐':
		return true
	case r == '⓪', r >= '⓵' && r <= '⓽', r == '⓿', r >= '❶' && r <= '❾', r >= '➀' && r <= '➈', r >= '➊' && r <= '➒':
		return true
	case r >= 0x10a40 && r <= 0x10a43, r >= 0x10e60 && r <= 0x10e68, r >= 0x11052 && r <= 0x1105a, r >= 0x1f100 && r <= 0x1f10a:
		return true
	}
	return false
}

// IsNumeric is s.isnumeric(): all that stands for a number, but for those of
// the ideographs that are letters too and rare.
func IsNumeric(s string) bool { return every(s, isNumeric) }

func isNumeric(r rune) bool {
	if unicode.In(r, unicode.Nd, unicode.Nl, unicode.No) {
		return true
	}
	switch r {
	case '一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '百', '千', '万', '億', '兆', '零', '〇', '壱', '弐', '参', '亿', '萬', '两':
		return true
	}
	return false
}

// IsAlnum is s.isalnum().
func IsAlnum(s string) bool {
	return every(s, func(r rune) bool { return isAlpha(r) || isDecimal(r) || isDigit(r) || isNumeric(r) })
}

// IsSpaceText is s.isspace().
func IsSpaceText(s string) bool { return every(s, IsSpace) }

func isLower(r rune) bool {
	return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r)
}

func isUpper(r rune) bool {
	return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r)
}

// IsLower is s.islower(): some character has a case, and none is upper.
func IsLower(s string) bool {
	some := false
	for _, r := range s {
		if isUpper(r) || unicode.IsTitle(r) {
			return false
		}
		some = some || isLower(r)
	}
	return some
}

// IsUpper is s.isupper().
func IsUpper(s string) bool {
	some := false
	for _, r := range s {
		if isLower(r) || unicode.IsTitle(r) {
			return false
		}
		some = some || isUpper(r)
	}
	return some
}

// IsTitle is s.istitle().
func IsTitle(s string) bool {
	some, inside := false, false
	for _, r := range s {
		switch {
		case isUpper(r) || unicode.IsTitle(r):
			if inside {
				return false
			}
			inside, some = true, true
		case isLower(r):
			if !inside {
				return false
			}
			inside, some = true, true
		default:
			inside = false
		}
	}
	return some
}

// IsIdentifier is s.isidentifier().
func IsIdentifier(s string) bool {
	for i, r := range s {
		switch {
		case r == '_' || isAlpha(r) || unicode.Is(unicode.Nl, r):
		case i > 0 && unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc):
		default:
			return false
		}
	}
	return s != ""
}

// IsPrintable is s.isprintable(): nothing that repr writes as an escape.
func IsPrintable(s string) bool {
	for _, r := range s {
		if !printable(r) {
			return false
		}
	}
	return true
}

func printable(r rune) bool {
	return r == ' ' || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Zl, unicode.Zp, unicode.Zs) &&
		unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

// DecimalDigit is the value of a decimal digit of any script.
func DecimalDigit(r rune) (int, bool) {
	if !isDecimal(r) {
		return 0, false
	}
	// The digits of a script are ten code points in a row, and no row begins
	// right behind another but for those of the mathematical alphabets, which
	// begin at U+1D7CE.
	if r >= 0x1d7ce && r <= 0x1d7ff {
		return int(r-0x1d7ce) % 10, true
	}
	zero := r
	for isDecimal(zero-1) && r-zero < 9 {
		zero--
	}
	return int(r - zero), true
}
