package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"strings"

	"github.com/capgen/capgen/runtime/govern/draft"
)

// check is what drafts.validate does: it parses what it can, and runs nothing.
func check(ctx context.Context, files []draft.File, read func(path string) ([]byte, error)) ([]draft.Diagnostic, error) {
	var found []draft.Diagnostic
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := read(f.Path)
		if err != nil {
			return nil, err
		}
		found = append(found, marks(f.Path, text)...)
		switch path.Ext(f.Path) {
		case ".go":
			found = append(found, checkGo(f.Path, text)...)
		case ".json":
			found = append(found, checkJSON(f.Path, text)...)
		}
	}
	return found[:min(len(found), draft.MaxDiagnostics)], nil
}

// marks finds what a merge leaves where both sides changed a text.
func marks(name string, text []byte) []draft.Diagnostic {
	line := 0
	for l := range bytes.Lines(text) {
		line++
		if bytes.HasPrefix(l, []byte("<<<<<<< ")) || bytes.HasPrefix(l, []byte(">>>>>>> ")) {
			return []draft.Diagnostic{{Code: "conflict_mark", Severity: draft.SeverityError, File: name, Line: line, Message: "a mark of a merge conflict"}}
		}
	}
	return nil
}

func checkGo(name string, text []byte) []draft.Diagnostic {
	_, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution|parser.AllErrors)
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return nil
	}
	found := make([]draft.Diagnostic, len(list))
	for i, e := range list {
		found[i] = draft.Diagnostic{Code: "syntax_error", Severity: draft.SeverityError, File: name, Line: e.Pos.Line, Column: e.Pos.Column, Message: e.Msg}
	}
	return found
}

func checkJSON(name string, text []byte) []draft.Diagnostic {
	var v any
	err := json.Unmarshal(text, &v)
	if err == nil {
		return nil
	}
	line := 0
	var wrong *json.SyntaxError
	if errors.As(err, &wrong) {
		line = 1 + strings.Count(string(text[:min(int(wrong.Offset), len(text))]), "\n")
	}
	return []draft.Diagnostic{{Code: "syntax_error", Severity: draft.SeverityError, File: name, Line: line, Message: err.Error()}}
}
