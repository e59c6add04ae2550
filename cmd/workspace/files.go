package main

import (
	"context"
	"errors"
	"time"

	"github.com/capgen/capgen/cmd/workspace/internal/tree"
	generated "github.com/capgen/capgen/generated/files"
	"github.com/capgen/capgen/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// files implements the namespace files on a tree. It only translates: bounds
// and confinement are the tree's.
type files struct{ tree *tree.Tree }

func (f *files) List(ctx context.Context, in generated.ListInput) (types.Listing, error) {
	page, err := f.tree.Walk(ctx, tree.WalkRequest{
		// What is in one directory is shown as it is.
		Scope:  tree.Scope{Path: in.Path, Depth: 1, VersionControl: true},
		Limit:  int(in.Limit),
		Cursor: in.Cursor,
	})
	return listing(page), disclose(err)
}

func (f *files) Tree(ctx context.Context, in generated.TreeInput) (types.Listing, error) {
	page, err := f.tree.Walk(ctx, tree.WalkRequest{
		Scope: tree.Scope{
			Path: in.Path, Include: in.Include.Value, Exclude: in.Exclude.Value,
			Depth: int(in.Depth.Or(0)), VersionControl: in.VersionControl,
		},
		Kinds:  each(in.Kinds.Value, func(k types.Kind) tree.Kind { return tree.Kind(k) }),
		Limit:  int(in.Limit),
		Cursor: in.Cursor,
	})
	return listing(page), disclose(err)
}

func listing(page tree.WalkPage) types.Listing {
	return types.Listing{
		Entries: each(page.Entries, func(e tree.Entry) types.Entry {
			return types.Entry{Path: e.Path, Kind: types.Kind(e.Kind), Size: e.Size}
		}),
		Problems: each(page.Problems, problem),
		Next:     page.Next,
	}
}

func (f *files) Stat(ctx context.Context, in generated.StatInput) (generated.StatOutput, error) {
	stats, err := f.tree.Stat(ctx, in.Paths)
	return generated.StatOutput{Stats: each(stats, stat)}, disclose(err)
}

func stat(s tree.Stat) types.Stat {
	out := types.Stat{Path: s.Path, Error: failure(s.Error)}
	if s.Error != nil {
		return out
	}
	out.Kind = canon.Some(types.Kind(s.Kind))
	out.Size = canon.Some(s.Size)
	out.Executable = canon.Some(s.Executable)
	if !s.Modified.IsZero() {
		out.Modified = canon.Some(s.Modified.UTC().Format(time.RFC3339))
	}
	if s.Target != "" {
		out.Target = canon.Some(types.Kind(s.Target))
	}
	out.TargetError = failure(s.TargetError)
	return out
}

func (f *files) Read(ctx context.Context, in generated.ReadInput) (generated.ReadOutput, error) {
	ranges := each(in.Paths.Value, func(p string) tree.Range { return tree.Range{Path: p} })
	ranges = append(ranges, each(in.Ranges.Value, func(r types.Range) tree.Range {
		return tree.Range{
			Path: r.Path, FirstLine: r.FirstLine.Or(0), LastLine: r.LastLine.Or(0), Offset: r.Offset.Or(0), Length: r.Length.Or(0),
		}
	})...)
	if len(ranges) == 0 {
		return generated.ReadOutput{}, runtime.Disclose(string(tree.Invalid), "give paths or ranges")
	}
	page, err := f.tree.Read(ctx, tree.ReadRequest{Ranges: ranges, MaxBytes: int(in.MaxBytes), Cursor: in.Cursor})
	return generated.ReadOutput{Files: each(page.Texts, text), Next: page.Next}, disclose(err)
}

func text(t tree.Text) types.Text {
	return types.Text{
		Path: t.Path, Error: failure(t.Error), Binary: t.Binary, Text: t.Text, Size: t.Size,
		Offset: t.Offset, FirstLine: t.FirstLine, Lines: t.Lines, Complete: t.Complete,
	}
}

func (f *files) Search(ctx context.Context, in generated.SearchInput) (generated.SearchOutput, error) {
	page, err := f.tree.Search(ctx, tree.SearchRequest{
		Scope:   tree.Scope{Path: in.Path, Include: in.Include.Value, Exclude: in.Exclude.Value, VersionControl: in.VersionControl},
		Pattern: in.Pattern, Literal: in.Literal, IgnoreCase: in.IgnoreCase,
		Context: int(in.Context), Limit: int(in.Limit), PerFile: int(in.MaxPerFile), Cursor: in.Cursor,
	})
	return generated.SearchOutput{
		Matches: each(page.Matches, func(m tree.Match) types.Match {
			return types.Match{Path: m.Path, Line: m.Line, Column: m.Column, Text: m.Text, Before: m.Before, After: m.After, Cut: m.Cut}
		}),
		Problems:      each(page.Problems, problem),
		FilesSearched: page.Files,
		BinaryFiles:   page.Binary,
		Truncated:     page.Next != "",
		Next:          page.Next,
	}, disclose(err)
}

func problem(p tree.Problem) types.Problem {
	return types.Problem{Path: p.Path, Code: types.FailureCode(p.Code), Message: p.Message}
}

func failure(err *tree.Error) canon.Optional[types.Failure] {
	if err == nil {
		return canon.Optional[types.Failure]{}
	}
	return canon.Some(types.Failure{Code: types.FailureCode(err.Code), Message: err.Message})
}

// disclose lets the program see what package tree says of its request.
func disclose(err error) error {
	var own *tree.Error
	if errors.As(err, &own) {
		return runtime.Disclose(string(own.Code), own.Message)
	}
	return err
}

func each[From, To any](from []From, convert func(From) To) []To {
	to := make([]To, 0, len(from))
	for _, f := range from {
		to = append(to, convert(f))
	}
	return to
}
