package main

import (
	"fmt"

	"github.com/capgen/capgen/internal/nearest"
)

// didYouMean is " (did you mean …?)" with the closest of known, or nothing
// when none is close.
func didYouMean(name string, known []string) string {
	if n := nearest.Name(name, known); n != "" {
		return fmt.Sprintf(" (did you mean %s?)", n)
	}
	return ""
}
