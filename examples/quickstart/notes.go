package main

import (
	"context"
	"strings"

	"github.com/capgen/capgen/examples/quickstart/generated/notes"
)

// notebook answers the capabilities of the namespace notes.
type notebook []string

// Find returns the first notes that contain the word.
func (n notebook) Find(ctx context.Context, in notes.FindInput) (notes.FindOutput, error) {
	var found notes.FindOutput
	for _, text := range n {
		if int64(len(found)) < in.Limit && strings.Contains(strings.ToLower(text), strings.ToLower(in.Word)) {
			found = append(found, text)
		}
	}
	return found, ctx.Err()
}
