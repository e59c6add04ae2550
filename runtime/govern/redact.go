package govern

import "regexp"

// absolute finds absolute paths of Unix and Windows, not in the middle of a word
// or of a URL: relative paths and URLs stay.
var absolute = regexp.MustCompile(`(^|[\s"'(=,;\[<])((?:[A-Za-z]:[\\/]|\\\\|/)[^\s"'),;\]>]*[^\s"'),;\]>:])`)

// redact writes <path> for every absolute path in text.
func redact(text string) string { return absolute.ReplaceAllString(text, "${1}<path>") }
