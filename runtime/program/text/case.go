package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Upper is s.upper().
func Upper(s string) string {
	if IsASCII(s) {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteString(upper(r))
	}
	return b.String()
}

// Lower is s.lower().
func Lower(s string) string {
	if IsASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for i, r := range s {
		b.WriteString(lower(s, i, r))
	}
	return b.String()
}

// upper is the full mapping of Unicode's SpecialCasing.txt.
func upper(r rune) string {
	if s := specialUpper(r); s != "" {
		return s
	}
	return string(unicode.ToUpper(r))
}

func lower(s string, i int, r rune) string {
	switch r {
	case 'İ':
		return "i\u0307"
	case 'Σ':
		if finalSigma(s, i) {
			return "ς"
		}
	}
	return string(unicode.ToLower(r))
}

// finalSigma: a letter before and none behind, across what has no case.
func finalSigma(s string, at int) bool {
	before := false
	for i := at; i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
		if !caseIgnorable(r) {
			before = cased(r)
			break
		}
	}
	if !before {
		return false
	}
	for _, r := range s[at+len("Σ"):] {
		if !caseIgnorable(r) {
			return !cased(r)
		}
	}
	return true
}

func cased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Lowercase, r) || unicode.Is(unicode.Other_Uppercase, r)
}

func caseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '^', '`', '·', '’', '‘', '․', '‧', '…', '﹒', '．', '＇':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// Title is s.title(): words begin where a letter follows what is none.
func Title(s string) string {
	var b strings.Builder
	inside := false
	for i, r := range s {
		if inside {
			b.WriteString(lower(s, i, r))
		} else {
			b.WriteString(title(r))
		}
		inside = cased(r)
	}
	return b.String()
}

func title(r rune) string {
	s := specialUpper(r)
	switch {
	case s == "":
		return string(unicode.ToTitle(r))
	case r == 'ß' || r == 'և' || r >= 'ﬀ' && r <= 'ﬆ': // letters side by side
		first, size := utf8.DecodeRuneInString(s)
		return string(first) + Lower(s[size:])
	}
	return s
}

// Capitalize is s.capitalize().
func Capitalize(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if s == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(title(r))
	for i, r := range s[size:] {
		b.WriteString(lower(s, size+i, r))
	}
	return b.String()
}

// SwapCase is s.swapcase().
func SwapCase(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case isUpper(r):
			b.WriteString(lower(s, i, r))
		case isLower(r):
			b.WriteString(upper(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Fold is s.casefold() for the letters whose folding is not their lower case
// in full: ß and what SpecialCasing spells out.
func Fold(s string) string {
	if IsASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == 'ς':
			b.WriteRune('σ')
		case r == 'ẞ':
			b.WriteString("ss")
		case r == 'İ':
			b.WriteString("i\u0307")
		case specialUpper(r) != "":
			for _, u := range specialUpper(r) {
				b.WriteRune(unicode.ToLower(u))
			}
		default:
			b.WriteRune(fold(r))
		}
	}
	return b.String()
}

// fold is the simple folding: of the letters that fold alike, CPython takes
// the lower case of the upper case.
func fold(r rune) rune {
	if f := unicode.ToLower(unicode.ToUpper(r)); f != unicode.ToLower(r) {
		return f
	}
	return unicode.ToLower(r)
}

// specialUpper is the upper case of letters that become several.
func specialUpper(r rune) string {
	switch r {
	case 'ß':
		return "SS"
	case 'ŉ':
		return "\u02bcN"
	case 'ǰ':
		return "J\u030c"
	case 'ΐ':
		return "\u0399\u0308\u0301"
	case 'ΰ':
		return "\u03a5\u0308\u0301"
	case 'և':
		return "\u0535\u0552"
	case 'ẖ':
		return "H\u0331"
	case 'ẗ':
		return "T\u0308"
	case 'ẘ':
		return "W\u030a"
	case 'ẙ':
		return "Y\u030a"
	case 'ẚ':
		return "A\u02be"
	case 'ﬀ':
		return "FF"
	case 'ﬁ':
		return "FI"
	case 'ﬂ':
		return "FL"
	case 'ﬃ':
		return "FFI"
	case 'ﬄ':
		return "FFL"
	case 'ﬅ', 'ﬆ':
		return "ST"
	}
	return ""
}
