package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/internal/review"
	"github.com/capgen/capgen/schema"
)

// formatMarkdown is the summary of a pull request.
const formatMarkdown schema.Format = "markdown"

// breakingChanges compares the manifest with an older one.
func breakingChanges(ctx context.Context, t *tool, o *options) int {
	if o.against == "" {
		return t.fail(errors.New("--against is missing: give git:REF, a file or a folder"))
	}
	head, diags, err := t.loadFile(o.manifest)
	if code, ok := t.readable(o, head, diags, err, filepath.ToSlash(o.manifest)); !ok {
		return code
	}
	base, diags, err := t.loadBase(ctx, o)
	if code, ok := t.readable(o, base, diags, err, o.against); !ok {
		return code
	}
	waivers, diags, err := t.waivers(o)
	if err != nil {
		return t.fail(err)
	}
	if schema.HasErrors(diags) {
		return t.unreadable(o, diags)
	}
	in := review.Input{
		Base: base, Head: head, BaseName: o.against, HeadName: filepath.ToSlash(o.manifest), File: filepath.ToSlash(o.manifest),
		Today: time.Now().UTC().Format(time.DateOnly), Waivers: waivers,
	}
	if o.format == formatMarkdown {
		if in.Generated, err = t.generatedState(ctx, o, head); err != nil {
			return t.fail(err)
		}
		in.GeneratedKnown = true
	}
	r, err := review.New(in)
	if err != nil {
		return t.fail(err)
	}
	write := map[schema.Format]func() error{
		schema.FormatJSON:   func() error { return r.WriteJSON(t.stdout) },
		schema.FormatGitHub: func() error { return r.WriteGitHub(t.stdout) },
		formatMarkdown:      func() error { return r.WriteMarkdown(t.stdout) },
	}[o.format]
	if write == nil {
		write = func() error { return r.WriteText(t.stdout) }
	}
	if err := write(); err != nil {
		return t.fail(err)
	}
	if r.Failed() {
		return exitFindings
	}
	return exitClean
}

// readable tells whether a manifest can be compared. What cannot be read is no
// answer to what breaks, so that the exit code is another one.
func (t *tool) readable(o *options, m *schema.Manifest, diags []schema.Diagnostic, err error, name string) (code int, ok bool) {
	if err != nil {
		return t.fail(err), false
	}
	if m == nil || schema.HasErrors(diags) {
		return t.unreadable(o, diags), false
	}
	diags = codegen.Diagnose(m)
	for i := range diags {
		if diags[i].File == "" {
			diags[i].File = name
		}
	}
	if schema.HasErrors(diags) {
		return t.unreadable(o, diags), false
	}
	return exitClean, true
}

// unreadable prints findings in the form that was asked for; a summary that
// there will not be is no place for them.
func (t *tool) unreadable(o *options, diags []schema.Diagnostic) int {
	w, format := t.stdout, o.format
	if format == formatMarkdown {
		w, format = t.stderr, schema.FormatText
	}
	if err := schema.Render(w, diags, format); err != nil {
		return t.fail(err)
	}
	return exitUsage
}

// loadBase reads the manifest to compare with.
func (t *tool) loadBase(ctx context.Context, o *options) (*schema.Manifest, []schema.Diagnostic, error) {
	if ref, ok := strings.CutPrefix(o.against, "git:"); ok {
		return t.loadCommit(ctx, o, ref)
	}
	name := o.against
	if info, err := os.Stat(t.path(name)); err == nil && info.IsDir() {
		name = filepath.Join(name, filepath.Base(o.manifest))
	}
	return t.loadFile(name)
}

// loadCommit reads the manifest as it was in a commit.
func (t *tool) loadCommit(ctx context.Context, o *options, ref string) (*schema.Manifest, []schema.Diagnostic, error) {
	g, err := openCommit(ctx, filepath.Dir(t.path(o.manifest)), ref)
	if err != nil {
		return nil, nil, err
	}
	main := filepath.Base(o.manifest)
	text, err := g.read(main)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("git:%s has no %s: there is nothing to compare with", ref, g.prefix+main)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("git:%s: %s: %w", ref, g.prefix+main, err)
	}
	m, diags := schema.LoadFrom(text, filepath.ToSlash(o.manifest), g.read)
	for i := range diags {
		diags[i].File = "git:" + ref + ":" + diags[i].File
	}
	return m, diags, nil
}

const (
	// waiversDir is where waivers are, beside the manifest.
	waiversDir = "changes"
	maxWaivers = 1_000
)

// waiverName is what the file of a waiver may be called.
var waiverName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}\.yaml$`)

// waivers reads those of the manifest. A file of another name is an error:
// somebody would believe it is one.
func (t *tool) waivers(o *options) (all []*schema.Waiver, diags []schema.Diagnostic, err error) {
	root, err := os.OpenRoot(filepath.Dir(t.path(o.manifest)))
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), waiversDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if len(entries) > maxWaivers {
		return nil, nil, fmt.Errorf("%s holds more than %d files", waiversDir, maxWaivers)
	}
	for _, e := range entries {
		name := path.Join(waiversDir, e.Name())
		shown := path.Join(path.Dir(filepath.ToSlash(o.manifest)), name)
		if !waiverName.MatchString(e.Name()) {
			diags = append(diags, finding(shown, "waiver-name", "this is no name of a waiver", "call it NAME.yaml, in a-z, 0-9 and ._-, at most 64 before the end, or move it away"))
			continue
		}
		text, err := readPart(root, filepath.FromSlash(name))
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", shown, err)
		}
		w, found := schema.LoadWaiver(text, shown)
		diags = append(diags, found...)
		if w != nil {
			all = append(all, w)
		}
	}
	return all, diags, nil
}

// generatedState is what check would find of the head.
func (t *tool) generatedState(ctx context.Context, o *options, head *schema.Manifest) ([]schema.Diagnostic, error) {
	files, diags := codegen.Generate(head)
	if schema.HasErrors(diags) {
		return nil, fmt.Errorf("%s", diags[0])
	}
	tr, err := t.openTree(o, head.Package, false)
	if err != nil {
		return nil, err
	}
	defer tr.close()
	diags, _, err = tr.compare(ctx, files)
	return diags, err
}
