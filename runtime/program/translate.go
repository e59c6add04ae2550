package program

import (
	"regexp"
	"strings"
)

// translation is an error of the interpreter in CPython's words. The text may
// use the groups of the pattern.
type translation struct {
	pattern     *regexp.Regexp
	class, text string
}

// translations are of errors that the interpreter raises by itself: for what
// the helpers do, they raise CPython's own.
var translations = []translation{
	{regexp.MustCompile(`^local variable (\S+) referenced before assignment$`), "UnboundLocalError",
		"cannot access local variable '$1' where it is not associated with a value"},
	{regexp.MustCompile(`^invalid call of non-function \((.*)\)$`), "TypeError", "'$1' object is not callable"},
	{regexp.MustCompile(`^function (\S+) missing 1 argument \((.*)\)$`), "TypeError", "$1() missing 1 required positional argument: '$2'"},
	{regexp.MustCompile(`^function (\S+) missing (\d+) arguments \((.*)\)$`), "TypeError", "$1() missing $2 required positional arguments: $3"},
	{regexp.MustCompile(`^range: step argument must not be zero$`), "ValueError", "range() arg 3 must not be zero"},
	{regexp.MustCompile(`^function (\S+) accepts no arguments \((\d+) given\)$`), "TypeError", "$1() takes 0 positional arguments but $2 were given"},
	{regexp.MustCompile(`^function (\S+) accepts (?:at most )?(\d+) positional arguments? \((\d+) given\)$`), "TypeError",
		"$1() takes $2 positional arguments but $3 were given"},
	{regexp.MustCompile(`^function (\S+) got an unexpected keyword argument "(.*)"`), "TypeError", "$1() got an unexpected keyword argument '$2'"},
	{regexp.MustCompile(`^function (\S+) got multiple values for parameter "(.*)"$`), "TypeError", "$1() got multiple values for argument '$2'"},
	{regexp.MustCompile(`^unhashable(?: type)?: (.*)$`), "TypeError", "unhashable type: '$1'"},
	{regexp.MustCompile(`^(\S+): missing argument for (.*)$`), "TypeError", "$1() missing required argument '$2'"},
	{regexp.MustCompile(`^(\S+): unexpected keyword argument "?([^"]*)"?$`), "TypeError", "$1() got an unexpected keyword argument '$2'"},
	{regexp.MustCompile(`^(\S+): got (\d+) arguments, want at (most|least) (\d+)$`), "TypeError", "$1() takes at $3 $4 arguments ($2 given)"},
	{regexp.MustCompile(`^(\S+): (?:for parameter \S+: )?got (\S+), want (?:an? )?iterable$`), "TypeError", "'$2' object is not iterable"},
	{regexp.MustCompile(`^called recursively`), "RecursionError", "maximum recursion depth exceeded"},
}

// translate is the class and text of an interpreter's error in CPython.
func translate(message string) (class, text string) {
	for _, t := range translations {
		if m := t.pattern.FindStringSubmatchIndex(message); m != nil {
			text := string(t.pattern.ExpandString(nil, t.text, message, m))
			text = strings.Replace(text, " 1 positional arguments but", " 1 positional argument but", 1)
			return t.class, pythonTypes(strings.Replace(text, "but 1 were given", "but 1 was given", 1))
		}
	}
	return "TypeError", message
}

// pythonTypes writes the interpreter's names of types as Python's.
func pythonTypes(s string) string {
	return strings.NewReplacer("'string'", "'str'", "builtin_function_or_method", "function").Replace(s)
}
