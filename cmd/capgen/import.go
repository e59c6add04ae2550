package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/capgen/capgen/internal/mcpimport"
	"github.com/capgen/capgen/schema"
)

// importMCP turns a tools/list document into entries of a manifest.
func importMCP(_ context.Context, t *tool, o *options) int {
	if o.namespace == "" {
		if o.namespace = mcpimport.Namespace(o.argument); o.namespace == "" {
			return t.fail(fmt.Errorf("no namespace can be made of the name %q: give one with --namespace", filepath.Base(o.argument)))
		}
	}
	if err := schema.CheckNamespace(o.namespace); err != nil {
		return t.fail(fmt.Errorf("--namespace: %w", err))
	}
	document, err := t.readDocument(o.argument)
	if err != nil {
		return t.fail(err)
	}
	r := mcpimport.Import(document, mcpimport.Options{
		File: filepath.ToSlash(o.argument), Namespace: o.namespace, Package: o.goPackage,
		Confirm: o.confirmEffects, Skips: o.skips,
	})
	if r.Manifest != nil {
		if err := t.writeManifest(o.out, r.Manifest); err != nil {
			return t.fail(err)
		}
	}
	if err := reportImport(t.stderr, r, o); err != nil {
		return t.fail(err)
	}
	if schema.HasErrors(r.Findings) {
		return exitFindings
	}
	return exitClean
}

func (t *tool) readDocument(name string) ([]byte, error) {
	f, err := os.Open(t.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// One byte more than is taken: the importer has the words for it.
	document, err := io.ReadAll(io.LimitReader(f, mcpimport.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return document, nil
}

// writeManifest overwrites nothing: what people changed in an entry is worth
// more than what an importer wrote.
func (t *tool) writeManifest(name string, text []byte) error {
	if name == "" {
		_, err := t.stdout.Write(text)
		return err
	}
	f, err := os.OpenFile(t.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already and is not overwritten: people may have changed it. Write to another file and compare", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(t.path(name)))
	}
	return nil
}

// reportImport writes the findings, then the totals.
func reportImport(w io.Writer, r *mcpimport.Result, o *options) error {
	if o.format != schema.FormatJSON {
		if err := schema.Render(w, r.Findings, o.format); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "%s: %d tools: %d imported (%d of them narrowed), %d listed, %d skipped\n",
			filepath.ToSlash(o.argument), r.Tools, r.Imported, r.Narrowed, r.Listed, r.Skipped)
		return err
	}
	var b bytes.Buffer
	if err := schema.Render(&b, r.Findings, o.format); err != nil {
		return err
	}
	var findings struct {
		Diagnostics json.RawMessage `json:"diagnostics"`
	}
	if err := json.Unmarshal(b.Bytes(), &findings); err != nil {
		return err
	}
	return writeJSON(w, struct {
		Tools       int             `json:"tools"`
		Imported    int             `json:"imported"`
		Narrowed    int             `json:"narrowed"`
		Listed      int             `json:"listed"`
		Skipped     int             `json:"skipped"`
		Diagnostics json.RawMessage `json:"diagnostics"`
	}{r.Tools, r.Imported, r.Narrowed, r.Listed, r.Skipped, findings.Diagnostics})
}

// addSkip reads TARGET=REASON.
func (o *options) addSkip(s string) error {
	target, reason, ok := strings.Cut(s, "=")
	if reason = strings.TrimSpace(reason); !ok || target == "" || reason == "" {
		return errors.New("write NAME=REASON or POINTER=REASON: what is left out is left out for a reason")
	}
	o.skips = append(o.skips, mcpimport.Skip{Target: target, Reason: reason})
	return nil
}
