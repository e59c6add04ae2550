package visible

import "regexp"

// absolute finds absolute paths of Unix and Windows, not in the middle of a word
// or of a URL: relative paths and URLs stay.
var absolute = regexp.MustCompile(`(^|[\s"'(=,;\[<])((?:[A-Za-z]:[\\/]|\\\\|/)[^\s"'),;\]>]*[^\s"'),;\]>:])`)

// HidePaths is s with <path> for every absolute path that it knows for one.
func HidePaths(s string) string { return absolute.ReplaceAllString(s, "${1}<path>") }
