package main

import (
	"context"
	_ "embed"
	"strings"

	"github.com/capgen/capgen/examples/evaluate/generated/filters"
	"github.com/capgen/capgen/runtime/govern"
)

var (
	//go:embed mails.json
	mails string // what each filter is given
	//go:embed measure.star
	measure string // what asks it about each mail, and counts
)

// evaluation answers the capabilities of the namespace filters.
type evaluation struct{}

// Evaluate plans a run. What is here, and nothing else, is what approvers read
// and what runs: a plan holds every byte of it.
func (evaluation) Evaluate(_ context.Context, in filters.EvaluateInput) (govern.Run, error) {
	if !strings.Contains("\n"+in.Source, "\ndef is_spam(") {
		return govern.Run{}, filters.ErrEvaluateNoFilter
	}
	program := in.Source + "\n\n" + measure
	return govern.Run{
		Summary:   in.Summary,
		Files:     []govern.File{{Path: "main.star", Content: []byte(program)}},
		Arguments: []byte(mails),
	}, nil
}
