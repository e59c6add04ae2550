package govern

import "github.com/capgen/capgen/internal/visible"

// redact writes <path> for every absolute path in text.
func redact(text string) string { return visible.HidePaths(text) }
