package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

func (t *tool) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(t.dir, name)
}

// loadFile reads one manifest with all that it includes or refers to; an error
// is one of reading it at all.
func (t *tool) loadFile(name string) (*schema.Manifest, []schema.Diagnostic, error) {
	text, err := t.readManifest(name)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(t.path(name)))
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	m, diags := schema.LoadFrom(text, filepath.ToSlash(name), func(name string) ([]byte, error) {
		return readPart(root, filepath.FromSlash(name))
	})
	return m, diags, nil
}

// load reads the manifest and prints its findings. ok is false when there is
// nothing to go on with; then code is how to exit.
func (t *tool) load(o *options) (m *schema.Manifest, code int, ok bool) {
	m, diags, err := t.loadFile(o.manifest)
	if err != nil {
		return nil, t.fail(err), false
	}
	failed := m == nil || schema.HasErrors(diags)
	return m, exitFindings, t.report(diags, o.format, failed) && !failed
}

// report prints findings: with a failure as the command's result, otherwise
// beside it.
func (t *tool) report(diags []schema.Diagnostic, format schema.Format, failed bool) bool {
	if len(diags) == 0 {
		return true
	}
	w := t.stderr
	if failed {
		w = t.stdout
	}
	return schema.Render(w, diags, format) == nil
}

func (t *tool) readManifest(name string) ([]byte, error) {
	if name == "" {
		return nil, errors.New("--manifest names no file")
	}
	f, err := os.Open(t.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no manifest %s: run capgen where it is, or name one with --manifest", name)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory: name the manifest in it with --manifest", name)
	}
	text, err := readBounded(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return text, nil
}

// readPart reads a file that the manifest includes or refers to. The root
// follows no link out of the manifest's directory; what is no regular file,
// such as a pipe, on which opening would wait, is not opened.
func readPart(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, plainCause(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, plainCause(err)
	}
	defer f.Close()
	return readBounded(f)
}

// plainCause is err without the operation and the path, which the finding
// names itself.
func plainCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// readBounded reads one file up to a byte beyond what one may have, so that
// the loader finds it too large.
func readBounded(f *os.File) ([]byte, error) {
	return io.ReadAll(io.LimitReader(f, schema.MaxFileBytes+1))
}

// compile is load and then the files that the manifest means.
func (t *tool) compile(o *options) (m *schema.Manifest, files map[string][]byte, code int, ok bool) {
	m, code, ok = t.load(o)
	if !ok {
		return nil, nil, code, false
	}
	files, diags := codegen.Generate(m)
	if schema.HasErrors(diags) {
		for i := range diags {
			if diags[i].File == "" {
				diags[i].File = filepath.ToSlash(o.manifest)
			}
		}
		t.report(diags, o.format, true)
		return nil, nil, exitFindings, false
	}
	return m, files, exitClean, true
}
