package hostvet

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// prefix of the comments that answer findings:
//
//	//capgenvet:allow RULE reason          about its line, or the next one
//	//capgenvet:dependency PACKAGE reason  in a package that links it
const prefix = "//capgenvet:"

// directive is one such comment.
type directive struct {
	pos  token.Pos
	file string
	line int // the one that it is about
	rule string
	// dependency is the import path that a package vouches for; the rule is
	// quietinit then.
	dependency string
	used       bool
}

type directives struct{ all []*directive }

// readDirectives also reports the comments that are wrong, if the package is
// one whose comments count.
func readDirectives(pass *analysis.Pass) *directives {
	ds := &directives{}
	for _, file := range pass.Files {
		var code map[int]bool // made when the first comment asks
		for _, group := range file.Comments {
			for _, c := range group.List {
				text, ok := strings.CutPrefix(c.Text, prefix)
				if !ok {
					continue
				}
				if code == nil {
					code = codeLines(pass.Fset, file)
				}
				d, problem := parseDirective(text)
				if problem != "" {
					pass.Report(analysis.Diagnostic{Pos: c.Pos(), Message: problem})
					continue
				}
				at := pass.Fset.Position(c.Pos())
				d.pos, d.file, d.line = c.Pos(), at.Filename, at.Line
				if !code[d.line] {
					d.line++
				}
				ds.all = append(ds.all, d)
			}
		}
	}
	return ds
}

func parseDirective(text string) (d *directive, problem string) {
	text, _, _ = strings.Cut(text, " //") // a comment in the comment
	words := strings.Fields(text)
	verb := ""
	if len(words) > 0 && !strings.HasPrefix(text, " ") {
		verb = words[0]
	}
	switch {
	case verb != "allow" && verb != "dependency":
		return nil, "unknown comment of capgenvet: write " + prefix + "allow RULE reason, or " + prefix + "dependency PACKAGE reason"
	case len(words) < 3:
		return nil, prefix + verb + " needs a name and a reason after it"
	case verb == "dependency":
		return &directive{rule: ruleInit, dependency: words[1]}, ""
	case !slices.Contains([]string{ruleEntry, ruleInit, ruleStdout, ruleReadonly}, words[1]):
		return nil, prefix + "allow: there is no rule " + words[1]
	}
	return &directive{rule: words[1]}, ""
}

// codeLines are the lines of a file on which something other than a comment
// begins or ends.
func codeLines(fset *token.FileSet, file *ast.File) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.File:
		case *ast.Comment, *ast.CommentGroup:
			return false
		default:
			lines[fset.Position(n.Pos()).Line] = true
			lines[fset.Position(n.End()-1).Line] = true
		}
		return true
	})
	return lines
}

// allows tells whether a comment allows rule at a place, which uses it.
func (ds *directives) allows(rule string, at token.Position) bool {
	found := false
	for _, d := range ds.all {
		if d.rule == rule && d.dependency == "" && d.line == at.Line && d.file == at.Filename {
			d.used, found = true, true
		}
	}
	return found
}
