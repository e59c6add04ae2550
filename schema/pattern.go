package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxPattern is the longest pattern, in bytes.
	maxPattern = 1_024
	// maxInstructions bounds the compiled program: a worker compiles it too.
	maxInstructions = 10_000
	// maxRepeat is RE2's largest count.
	maxRepeat = 1_000
)

// pattern reports an expression that RE2, which checks values, and ECMA-262
// with the u flag, which JSON Schema names (2020-12 core, section 6.4) and
// clients use, do not both take and read alike.
//
// One difference is left in: a dot excludes \n in both, but in ECMA-262 \r,
// U+2028 and U+2029 as well.
func (l *loader) pattern(s string, at Position) {
	if len(s) > maxPattern {
		l.errorf(at, ruleBadPattern, "a pattern of %d bytes, the limit is %d", len(s), maxPattern).
			hint("check it in the handler")
		return
	}
	p := &patternParser{rest: s}
	p.parse()
	if p.problem != "" {
		l.errorf(at, ruleBadPattern, "pattern, character %d: %s", p.place(s), p.problem).hint("%s", p.hint)
		return
	}
	// What both grammars share still has RE2's limits.
	if _, err := regexp.Compile(s); err != nil {
		l.errorf(at, ruleBadPattern, "pattern: %s", plain(err.Error(), maxPlain)).hint("simplify it")
		return
	}
	if n := instructions(s); n > maxInstructions {
		l.errorf(at, ruleBadPattern, "the pattern compiles to %d instructions, the limit is %d", n, maxInstructions).
			hint("use smaller counts, or minLength and maxLength")
	}
}

func instructions(s string) int {
	re, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return maxInstructions + 1
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return maxInstructions + 1
	}
	return len(prog.Inst)
}

// patternParser walks over a pattern once; the first problem stops it.
type patternParser struct {
	rest          string
	depth         int
	atom          bool // something stands before that can be repeated
	problem, hint string
}

// place is where the parser stands, in code points from 1.
func (p *patternParser) place(s string) int {
	return utf8.RuneCountInString(s[:len(s)-len(p.rest)]) + 1
}

func (p *patternParser) fail(hint, format string, args ...any) {
	if p.problem == "" {
		p.problem, p.hint = fmt.Sprintf(format, args...), hint
	}
}

func (p *patternParser) parse() {
	for p.rest != "" && p.problem == "" {
		switch c := p.rest[0]; c {
		case '^', '$', '|':
			p.rest, p.atom = p.rest[1:], false
		case '(':
			p.group()
		case ')':
			if p.depth == 0 {
				p.fail(`write \) for the character`, "a closing parenthesis without an opening one")
				return
			}
			p.depth--
			p.rest, p.atom = p.rest[1:], true
		case '*', '+', '?', '{':
			p.repeat()
		case '[':
			p.class()
		case '\\':
			p.atom = p.escape(false) != notAtom
		case ']', '}':
			p.fail(`write \`+string(c)+" for the character", "%q stands alone", c)
		default:
			p.character()
			p.atom = true
		}
	}
	if p.depth > 0 {
		p.fail(`write \( for the character`, "an opening parenthesis without a closing one")
	}
}

func (p *patternParser) character() rune {
	r, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	return r
}

func (p *patternParser) group() {
	switch {
	case strings.HasPrefix(p.rest, "(?:"):
		p.rest = p.rest[3:]
	case strings.HasPrefix(p.rest, "(?"):
		p.fail("groups are ( … ) and (?: … ); there is no look-around, no name and no flag", "a group that not both engines have")
		return
	default:
		p.rest = p.rest[1:]
	}
	p.depth++
	p.atom = false
}

// repeat reads *, +, ?, {n}, {n,} or {n,m}, and a ? that makes it lazy.
func (p *patternParser) repeat() {
	if !p.atom {
		p.fail(`write \`+p.rest[:1]+" for the character", "nothing to repeat")
		return
	}
	if p.rest[0] != '{' {
		p.rest = p.rest[1:]
	} else {
		end := strings.IndexByte(p.rest, '}')
		if end < 0 || !isCount(p.rest[1:end]) {
			p.fail(fmt.Sprintf(`{n}, {n,} or {n,m} with counts up to %d; write \{ for the character`, maxRepeat), "a count that not both engines take")
			return
		}
		p.rest = p.rest[end+1:]
	}
	p.rest = strings.TrimPrefix(p.rest, "?")
	p.atom = false
}

func isCount(s string) bool {
	least, most, ranged := strings.Cut(s, ",")
	n, ok := count(least)
	if !ok || !ranged || most == "" {
		return ok
	}
	m, ok := count(most)
	return ok && m >= n
}

func count(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n <= maxRepeat
}

// escaped is what an escape stands for.
type escaped int

const (
	notAtom   escaped = -1 // an assertion, or a problem
	someClass escaped = -2 // a set of characters; else a single one
)

// escape reads \ and what follows.
func (p *patternParser) escape(inClass bool) escaped {
	if len(p.rest) < 2 {
		p.fail(`write \\ for the character`, "a backslash at the end")
		return notAtom
	}
	const others = `take \d \w \t \n \r \f \v \xHH \p{L}, or a backslash before one of ^$\.*+?()[]{}|/`
	c := p.rest[1]
	switch {
	case strings.IndexByte(`^$\.*+?()[]{}|/`, c) >= 0 || inClass && c == '-':
		p.rest = p.rest[2:]
		return escaped(c)
	case strings.IndexByte("dDwW", c) >= 0:
		p.rest = p.rest[2:]
		return someClass
	case strings.IndexByte("tnrfv", c) >= 0:
		p.rest = p.rest[2:]
		return escaped("\t\n\r\f\v"[strings.IndexByte("tnrfv", c)])
	case (c == 'b' || c == 'B') && !inClass:
		p.rest = p.rest[2:]
		return notAtom
	case c == 'x' && len(p.rest) >= 4:
		if v, err := strconv.ParseUint(p.rest[2:4], 16, 8); err == nil {
			p.rest = p.rest[4:]
			return escaped(v)
		}
	case c == 'p' || c == 'P':
		return p.property()
	case c == 's' || c == 'S':
		p.fail(`write the characters: [ \t\r\n] or [^ \t\r\n]`, `\%c means other characters in ECMA-262 than in RE2`, c)
		return notAtom
	case c == 'u':
		p.fail("write the character itself", `RE2 has no \u`)
		return notAtom
	}
	r, _ := utf8.DecodeRuneInString(p.rest[1:])
	p.fail(others, "escape %s is not one that both engines read alike", quote(`\`+string(r)))
	return notAtom
}

// property reads \p{…} with a general category that both engines know by its
// short name. The C categories are left out: the engines disagree on what is
// unassigned.
func (p *patternParser) property() escaped {
	categories := []string{
		"L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No",
		"P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So",
		"Z", "Zs", "Zl", "Zp",
	}
	end := strings.IndexByte(p.rest, '}')
	if len(p.rest) < 3 || p.rest[2] != '{' || end < 0 || !slices.Contains(categories, p.rest[3:end]) {
		p.fail(`write \p{L}, \p{Lu}, \p{Nd} …`, "a property that is no general category by its short name")
		return notAtom
	}
	p.rest = p.rest[end+1:]
	return someClass
}

// class reads [ … ].
func (p *patternParser) class() {
	p.rest = strings.TrimPrefix(p.rest[1:], "^")
	if strings.HasPrefix(p.rest, "]") {
		p.fail(`write \] for the character`, "an empty class")
		return
	}
	for p.problem == "" {
		if p.rest == "" {
			p.fail(`write \[ for the character`, "a class without its ]")
			return
		}
		if p.rest[0] == ']' {
			p.rest, p.atom = p.rest[1:], true
			return
		}
		low := p.classAtom()
		// A - before ] is a character of its own.
		if p.problem != "" || len(p.rest) < 2 || p.rest[0] != '-' || p.rest[1] == ']' {
			continue
		}
		p.rest = p.rest[1:]
		high := p.classAtom()
		if p.problem == "" && (low == someClass || high == someClass || low > high) {
			p.fail(`write \- for the character`, "a range without order in a class")
		}
	}
}

func (p *patternParser) classAtom() escaped {
	switch p.rest[0] {
	case '\\':
		return p.escape(true)
	case '[':
		p.fail(`write \[ for the character`, "a [ in a class")
		return notAtom
	}
	return escaped(p.character())
}
