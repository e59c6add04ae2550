package canon

import (
	"strconv"
	"strings"
)

// The checks below are shared by Reader and Writer. Each returns an empty
// message for a value that passes; the messages are built on failure only.

func checkLength(n, min, max int, unit string) string {
	switch {
	case n < min:
		return "expected at least " + count(min, unit) + ", got " + strconv.Itoa(n)
	case n > max:
		return "expected at most " + count(max, unit) + ", got " + strconv.Itoa(n)
	}
	return ""
}

func count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

// expectedInteger says which integers are allowed; got is what came instead.
func expectedInteger(min, max int64, got string) string {
	return "expected an integer from " + strconv.FormatInt(min, 10) + " to " + strconv.FormatInt(max, 10) + ", got " + got
}

func expectedOneOf(allowed []string, got string) string {
	const most = 16
	var b strings.Builder
	b.WriteString("expected ")
	if len(allowed) > 1 {
		b.WriteString("one of ")
	}
	for i, s := range allowed {
		if i == most {
			b.WriteString(", ")
			b.WriteString(ellipsis)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(s))
	}
	b.WriteString(", got ")
	b.WriteString(quoted(got))
	return b.String()
}

func noMatch(p *Pattern) string {
	const most = 256
	expr := p.Expr
	if len(expr) > most {
		expr = strings.ToValidUTF8(expr[:most], "") + ellipsis
	}
	return "expected a match of the pattern " + expr
}

func checkAtLeast(v, min float64) string {
	if v >= min {
		return ""
	}
	return "expected at least " + numberText(min) + ", got " + numberText(v)
}

func checkAtMost(v, max float64) string {
	if v <= max {
		return ""
	}
	return "expected at most " + numberText(max) + ", got " + numberText(v)
}

func checkAbove(v, min float64) string {
	if v > min {
		return ""
	}
	return "expected more than " + numberText(min) + ", got " + numberText(v)
}

func checkBelow(v, max float64) string {
	if v < max {
		return ""
	}
	return "expected less than " + numberText(max) + ", got " + numberText(v)
}

func checkMultiple(v, n float64) string {
	if isMultiple(v, n) {
		return ""
	}
	return "expected a multiple of " + numberText(n) + ", got " + numberText(v)
}

func checkIntMultiple(v, n int64) string {
	if n != 0 && v%n == 0 {
		return ""
	}
	return "expected a multiple of " + strconv.FormatInt(n, 10) + ", got " + strconv.FormatInt(v, 10)
}

func expectedBool(want bool) string {
	return "expected " + strconv.FormatBool(want) + ", got " + strconv.FormatBool(!want)
}
