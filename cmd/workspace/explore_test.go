package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// exploration is the value of examples/explore/explore.star.
type exploration struct {
	GoFiles  int               `json:"go_files"`
	Lines    int               `json:"lines"`
	Packages map[string][3]any `json:"packages"`
	Largest  [][2]any          `json:"largest"`
	Markers  []string          `json:"markers"`
	Unread   []string          `json:"unread"`
}

const exploreProgram = "../../examples/explore/explore.star"

// toolsDirectory returns where the pinned golang.org/x/tools lies.
func toolsDirectory(t *testing.T) string {
	t.Helper()
	list := func() string {
		command := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/tools")
		command.Dir = "../../tools"
		out, err := command.Output()
		if err != nil {
			return "" // not even its go.mod is here
		}
		return strings.TrimSpace(string(out))
	}
	if dir := list(); dir != "" {
		return dir
	}
	command := exec.Command("go", "mod", "download", "golang.org/x/tools")
	command.Dir = "../../tools"
	if out, err := command.CombinedOutput(); err != nil {
		t.Skipf("golang.org/x/tools is not here and cannot be downloaded: %s", out)
	}
	dir := list()
	if dir == "" {
		t.Fatal("golang.org/x/tools was downloaded, but is not found")
	}
	return dir
}

// computeExploration computes with go/parser and go/scanner what the program
// computes with string methods.
func computeExploration(t *testing.T, dir string) exploration {
	t.Helper()
	x := exploration{Packages: map[string][3]any{}, Markers: []string{}, Unread: []string{}}
	type sized struct {
		path string
		size int64
	}
	var all []sized
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); base == ".git" || base == ".hg" || base == ".jj" || base == ".svn" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		switch rel = filepath.ToSlash(rel); rel {
		case "bin/capgen", "bin/workspace", "bin/bench.txt": // what make leaves there
		default:
			all = append(all, sized{rel, info.Size()})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b sized) int { return cmp.Compare(a.path, b.path) })
	for _, f := range all {
		if !strings.HasSuffix(f.path, ".go") {
			continue
		}
		source, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.path)))
		if err != nil {
			t.Fatal(err)
		}
		x.add(f.path, source)
	}
	slices.SortStableFunc(all, func(a, b sized) int { return cmp.Compare(b.size, a.size) })
	for _, f := range all[:min(10, len(all))] {
		x.Largest = append(x.Largest, [2]any{f.path, float64(f.size)})
	}
	return x
}

var markerWord = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b.*`)

func (x *exploration) add(name string, source []byte) {
	lines := strings.Count(string(source), "\n")
	if len(source) > 0 && source[len(source)-1] != '\n' {
		lines++
	}
	x.GoFiles++
	x.Lines += lines
	pkg, ok := x.Packages[path.Dir(name)]
	if !ok {
		pkg = [3]any{0.0, "", 0.0}
	}
	pkg[0] = pkg[0].(float64) + float64(lines)
	set := token.NewFileSet()
	// What cannot be parsed wholly still has the functions before the error.
	file, _ := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if file != nil {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			length := float64(set.PositionFor(f.End(), false).Line - set.PositionFor(f.Pos(), false).Line + 1)
			if length > pkg[2].(float64) {
				pkg[1], pkg[2] = functionName(f), length
			}
		}
	}
	x.Packages[path.Dir(name)] = pkg
	x.scan(name, source)
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.Name + "." + f.Name.Name
		default:
			return "?." + f.Name.Name
		}
	}
}

func (x *exploration) scan(name string, source []byte) {
	set := token.NewFileSet()
	file := set.AddFile(name, -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return
		}
		if tok != token.COMMENT {
			continue
		}
		first := file.PositionFor(pos, false).Line
		for i, line := range strings.Split(text, "\n") {
			if found := markerWord.FindString(line); found != "" {
				x.Markers = append(x.Markers, fmt.Sprintf("%s:%d: %s", name, first+i, shorten(found)))
			}
		}
	}
}

func shorten(text string) string {
	text = strings.TrimSpace(text)
	runes := []rune(text)
	if len(runes) <= 100 {
		return text
	}
	if cut := strings.LastIndex(string(runes[:100]), " "); cut > 0 {
		return text[:cut]
	}
	return markerWord.FindStringSubmatch(text)[1]
}
