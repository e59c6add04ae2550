package tree

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Bounds of glob patterns.
const (
	MaxGlobs     = 50
	MaxGlobBytes = 256
)

// globs matches paths against any of several patterns.
//
// In a pattern * stands for any characters but /, ? for one of them, [a-z]
// and [!a-z] for one out of or not out of a class, {a,b} for either
// alternative, \ takes the meaning of the next character away. A segment **
// stands for any number of segments, none included. A pattern without / is
// matched against the last segment of a path, any other against the whole.
type globs []*regexp.Regexp

func compileGlobs(patterns []string) (globs, error) {
	if len(patterns) > MaxGlobs {
		return nil, invalid(fmt.Sprintf("%d globs given, at most %d are allowed", len(patterns), MaxGlobs))
	}
	var g globs
	for _, pattern := range patterns {
		expression, err := globExpression(pattern)
		if err != nil {
			return nil, invalid(fmt.Sprintf("glob %q: %v", clip(pattern, 100), err))
		}
		compiled, err := regexp.Compile(expression)
		if err != nil {
			return nil, invalid(fmt.Sprintf("glob %q cannot be compiled", clip(pattern, 100)))
		}
		g = append(g, compiled)
	}
	return g, nil
}

// match tells whether a pattern matches p, which may hold any bytes.
func (g globs) match(p string) bool {
	for _, expression := range g {
		if expression.MatchString(p) {
			return true
		}
	}
	return false
}

// globExpression translates a pattern to RE2, which matches in linear time.
func globExpression(pattern string) (string, error) {
	switch {
	case pattern == "":
		return "", errors.New("it is empty")
	case len(pattern) > MaxGlobBytes:
		return "", fmt.Errorf("it is longer than %d bytes", MaxGlobBytes)
	case !utf8.ValidString(pattern):
		return "", errors.New("it is not valid UTF-8")
	case strings.HasPrefix(pattern, "/"):
		return "", errors.New("it begins with /; paths are relative")
	case strings.HasPrefix(pattern, "!"):
		return "", errors.New(`it begins with !: use exclude, or write \! for a name that begins so`)
	}
	if err := globSegments(pattern); err != nil {
		return "", err
	}
	var b strings.Builder
	if strings.Contains(pattern, "/") {
		b.WriteString(`(?s)^`)
	} else {
		b.WriteString(`(?s)(?:^|/)`)
	}
	braces := 0
	for i := 0; i < len(pattern); {
		rest := pattern[i:]
		segmentStart := i == 0 || pattern[i-1] == '/'
		switch c := rest[0]; {
		case segmentStart && strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:[^/]*/)*`)
			i += 3
		case segmentStart && rest == "**":
			b.WriteString(`.*`)
			i += 2
		case c == '*':
			b.WriteString(`[^/]*`)
			i++
		case c == '?':
			b.WriteString(`[^/]`)
			i++
		case c == '[':
			class, n, err := globClass(rest)
			if err != nil {
				return "", err
			}
			b.WriteString(class)
			i += n
		case c == '{':
			if braces++; braces > 8 {
				return "", errors.New("braces are nested more than 8 deep")
			}
			b.WriteString(`(?:`)
			i++
		case c == '}' && braces > 0:
			braces--
			b.WriteString(`)`)
			i++
		case c == ',' && braces > 0:
			b.WriteString(`|`)
			i++
		case c == '\\':
			if len(rest) == 1 {
				return "", errors.New("it ends with a backslash")
			}
			_, n := utf8.DecodeRuneInString(rest[1:])
			b.WriteString(regexp.QuoteMeta(rest[1 : 1+n]))
			i += 1 + n
		default:
			_, n := utf8.DecodeRuneInString(rest)
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			i += n
		}
	}
	if braces != 0 {
		return "", errors.New("a brace is not closed")
	}
	b.WriteString(`$`)
	return b.String(), nil
}

// globSegments refuses what no path holds. Such a pattern matches nothing,
// which would be taken for an answer.
func globSegments(pattern string) error {
	if strings.HasSuffix(pattern, "/") {
		return errors.New("it ends with /; write it without to exclude a directory, with /** to include what lies below")
	}
	for segment := range strings.SplitSeq(pattern, "/") {
		switch segment {
		case "":
			return errors.New("it has an empty segment, which no path has")
		case ".", "..":
			return fmt.Errorf("it has a segment %s, which no path has; patterns begin at the top", segment)
		}
	}
	return nil
}

// globReaches tells whether pattern may match dir or something below it, by the
// segments in which the pattern has no choice.
func globReaches(pattern, dir string) bool {
	if dir == "." || !strings.Contains(pattern, "/") {
		return true
	}
	for {
		wanted, rest, more := strings.Cut(pattern, "/")
		name, below, deeper := strings.Cut(dir, "/")
		switch {
		case strings.ContainsAny(wanted, `*?[{\`):
			return true
		case wanted != name:
			return false
		case !more || !deeper:
			return more || !deeper
		}
		pattern, dir = rest, below
	}
}

// globClass translates the class that s begins with, and returns its length.
func globClass(s string) (string, int, error) {
	body, negated := s[1:], false
	if strings.HasPrefix(body, "!") || strings.HasPrefix(body, "^") {
		body, negated = body[1:], true
	}
	end := strings.IndexByte(body, ']')
	if end <= 0 {
		return "", 0, errors.New("a class [...] is empty or not closed")
	}
	length := len(s) - len(body) + end + 1
	body = body[:end]
	var b strings.Builder
	for _, r := range body {
		switch {
		case r == '/' || r == '\\' || r == '[':
			return "", 0, fmt.Errorf("a class [...] may not hold %q", r)
		case r == '-':
			b.WriteByte('-')
		default:
			// By number, so that no character has a meaning.
			fmt.Fprintf(&b, `\x{%x}`, r)
		}
	}
	if strings.HasPrefix(body, "-") || strings.HasSuffix(body, "-") || strings.Contains(body, "--") {
		return "", 0, errors.New("a class [...] may hold - only between two characters")
	}
	if negated {
		return `[^/` + b.String() + `]`, length, nil
	}
	return `[` + b.String() + `]`, length, nil
}
