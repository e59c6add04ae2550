package format

import "unicode/utf8"

// Text formats a str. typeName is for messages.
func (s Spec) Text(text, typeName string) (string, error) {
	switch {
	case s.Type != 0 && s.Type != 's':
		return "", s.unknown(typeName)
	case s.Grouping != 0:
		return "", valueError("Cannot specify '%c' with 's'.", s.Grouping)
	case s.Sign != 0:
		if s.Sign == ' ' {
			return "", valueError("Space not allowed in string format specifier")
		}
		return "", valueError("Sign not allowed in string format specifier")
	case s.Positive:
		return "", valueError("Negative zero coercion (z) not allowed in string format specifier")
	case s.Alternate:
		return "", valueError("Alternate form (#) not allowed in string format specifier")
	case s.Align == '=':
		return "", valueError("'=' alignment not allowed in string format specifier")
	}
	if s.Precision >= 0 {
		text = cut(text, s.Precision)
	}
	return s.pad(text, 0, '<'), nil
}

// cut keeps the first n code points.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// Bytes is the most bytes a result can have beyond the value's own text: what
// a caller sizes before it formats.
func (s Spec) Bytes() int {
	fill := 1
	if s.Fill >= utf8.RuneSelf {
		fill = utf8.RuneLen(s.Fill)
	}
	return max(s.Width, 0)*fill + max(s.Precision, 0)
}
