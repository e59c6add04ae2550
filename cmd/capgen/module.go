package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/capgen/capgen/schema"
)

// maxGoMod bounds what is read of a go.mod, in bytes.
const maxGoMod = 1 << 20

// warnElsewhere says it when go.package is not the import path of the
// directory that the code is written to: such code imports the packages of the
// other place, and where there are none Go's message does not lead here.
func (t *tool) warnElsewhere(o *options, tr *tree, pkg string) error {
	dir := o.out
	if dir == "" {
		dir = filepath.Join(filepath.Dir(o.manifest), path.Base(pkg))
	}
	is, err := importPath(t.path(dir))
	if err != nil || is == "" || is == pkg {
		return err
	}
	d := finding(filepath.ToSlash(o.manifest), "package-elsewhere",
		fmt.Sprintf("go.package is %q, but by go.mod the import path of %s is %q", pkg, tr.name, is),
		"write package: "+is)
	d.Severity = schema.SeverityWarning
	return schema.Render(t.stderr, []schema.Diagnostic{d}, o.format)
}

// importPath is what the go.mod in or above dir makes of it; empty where there
// is none, or none that says.
func importPath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for below := ""; ; {
		if module := modulePath(filepath.Join(dir, "go.mod")); module != "" {
			return path.Join(module, below), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir, below = parent, path.Join(filepath.Base(dir), below)
	}
}

func modulePath(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxGoMod))
	if err != nil {
		return ""
	}
	return modfile.ModulePath(text)
}
