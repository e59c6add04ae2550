package python

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDigits is CPython's bound on the decimal digits of an integer in source
// (sys.int_info.default_max_str_digits).
const maxDigits = 4300

// number reads a numeric literal, language reference section 2.4.5.
func (l *lexer) number(pos Pos) {
	start := l.offset
	rest := l.source[start:]
	if len(rest) > 1 && rest[0] == '0' {
		switch rest[1] | 0x20 {
		case 'x':
			l.radix(pos, 16, "hexadecimal", "0123456789abcdefABCDEF")
			return
		case 'o':
			l.radix(pos, 8, "octal", "01234567")
			return
		case 'b':
			l.radix(pos, 2, "binary", "01")
			return
		}
	}
	isFloat := false
	l.digits(pos, "decimal")
	if l.peek() == '.' {
		isFloat = true
		l.offset++
		if isDigit(l.peek()) {
			l.digits(pos, "decimal")
		}
	}
	if l.peek()|0x20 == 'e' {
		mark := l.offset
		l.offset++
		if c := l.peek(); c == '+' || c == '-' {
			l.offset++
		}
		if isDigit(l.peek()) {
			isFloat = true
			l.digits(pos, "decimal")
		} else {
			l.offset = mark
		}
	}
	text := strings.ReplaceAll(l.source[start:l.offset], "_", "")
	l.numberEnds(pos, "decimal")
	t := token{pos: pos, start: start, end: l.offset}
	if isFloat {
		// Out of range gives an infinity, as in CPython.
		t.kind = floatLiteral
		t.float, _ = strconv.ParseFloat(text, 64)
		l.tokens = append(l.tokens, t)
		return
	}
	if len(text) > 1 && text[0] == '0' && strings.Trim(text, "0") != "" {
		l.fail(syntaxError(pos, "write it without the zeros, or with 0o for an octal number", "leading zeros in decimal integer literals are not permitted"))
	}
	l.integer(t, text, 10)
}

// integer appends an integer token.
func (l *lexer) integer(t token, text string, base int) {
	t.kind = integerLiteral
	if n, err := strconv.ParseInt(text, base, 64); err == nil {
		t.small = n
		l.tokens = append(l.tokens, t)
		return
	}
	if base == 10 && len(text) > maxDigits {
		l.fail(syntaxError(t.pos, "", "an integer of %d digits: the limit is %d", len(text), maxDigits))
	}
	t.integer, _ = new(big.Int).SetString(text, base)
	l.tokens = append(l.tokens, t)
}

func (l *lexer) radix(pos Pos, base int, what, allowed string) {
	start := l.offset
	l.offset += 2
	first := l.offset
	for {
		if l.peek() == '_' {
			l.offset++
		}
		if c := l.peek(); c == 0 || !strings.ContainsRune(allowed, rune(c)) {
			break
		}
		l.offset++
	}
	text := l.source[first:l.offset]
	if text == "" || strings.HasSuffix(text, "_") {
		l.fail(syntaxError(pos, "", "invalid %s literal", what))
	}
	if c := l.peek(); isDigit(c) {
		l.fail(syntaxError(pos, "", "invalid digit '%c' in %s literal", c, what))
	}
	l.numberEnds(pos, what)
	l.integer(token{pos: pos, start: start, end: l.offset}, strings.ReplaceAll(text, "_", ""), base)
}

// digits skips digits with single underscores between them.
func (l *lexer) digits(pos Pos, what string) {
	for {
		for isDigit(l.peek()) {
			l.offset++
		}
		if l.peek() != '_' {
			return
		}
		l.offset++
		if !isDigit(l.peek()) {
			l.fail(syntaxError(pos, "", "invalid %s literal", what))
		}
	}
}

// numberEnds refuses a number that runs into a name, and complex numbers. A
// keyword may follow at once: `1if x else 2`.
func (l *lexer) numberEnds(pos Pos, what string) {
	c := l.peek()
	if c != '_' && c < utf8.RuneSelf && !isLetter(c) {
		return
	}
	end := l.offset
	for end < len(l.source) && (isLetter(l.source[end]) || isDigit(l.source[end]) || l.source[end] == '_') {
		end++
	}
	switch word := l.source[l.offset:end]; word {
	case "and", "else", "for", "if", "in", "is", "or", "not":
		return
	case "j", "J":
		l.fail(syntaxError(pos, "use two numbers", "complex numbers are not available"))
	}
	l.fail(syntaxError(pos, "names begin with a letter or _", "invalid %s literal", what))
}

// peek is the next byte, 0 at the end.
func (l *lexer) peek() byte {
	if l.offset < len(l.source) {
		return l.source[l.offset]
	}
	return 0
}
