package python

import "math/big"

// kind is what a token is. Operators and keywords are told apart by text.
type kind uint8

const (
	endOfFile kind = iota
	newline        // the end of a logical line
	indent
	dedent
	name // identifiers and soft keywords
	keyword
	operator
	integerLiteral
	floatLiteral
	stringLiteral
	bytesLiteral
	// An f-string is fstringStart, then fstringText and replacement fields
	// (operator "{", tokens, operator "}"), then fstringEnd.
	fstringStart
	fstringText
	fstringEnd
)

// token is one lexical unit. Offsets are bytes of the source.
type token struct {
	kind       kind
	pos        Pos
	start, end int
	// text is the source of names, keywords and operators, and the value of
	// strings, bytes and f-string texts.
	text string
	// integer and float hold the value of numbers; a small integer stands in
	// small, a large one in integer.
	integer *big.Int
	small   int64
	float   float64
}

func (t *token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// isKeyword lists the hard keywords of the language reference, section 2.3.1.
func isKeyword(s string) bool {
	switch s {
	case "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
		"def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
		"is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield":
		return true
	}
	return false
}

// operators, longest first where one begins another.
func operatorAt(s string) string {
	if len(s) >= 3 {
		switch s[:3] {
		case "**=", "//=", ">>=", "<<=", "...":
			return s[:3]
		}
	}
	if len(s) >= 2 {
		switch s[:2] {
		case "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", ":=", "<>":
			return s[:2]
		}
	}
	switch s[0] {
	case '+', '-', '*', '/', '%', '@', '&', '|', '^', '~', '<', '>', '(', ')', '[', ']', '{', '}', ',', ':', '.', ';', '=', '!':
		return s[:1]
	}
	return ""
}
