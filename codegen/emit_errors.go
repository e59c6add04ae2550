package codegen

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

// Bounds of declared errors: the runtime refuses to build a server beyond
// them.
const (
	maxErrors    = 32
	maxErrorCode = 64
	maxErrorText = 256
)

var errorCode = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// declaredError is one constant of a namespace's package.
type declaredError struct{ name, code, text string }

// checkErrors refuses what the runtime would not build.
func (p *planner) checkErrors(c *schema.Capability) {
	if len(c.Errors) > maxErrors {
		p.fail(c.Pos, "too-many-errors", "", "%s declares %d errors, the limit is %d", c.Name, len(c.Errors), maxErrors)
		return
	}
	for _, e := range c.Errors {
		if !errorCode.MatchString(e.Code) || len(e.Code) > maxErrorCode || e.Code == "no_example" {
			p.fail(e.Pos, "error-code", "", "%s: %s is no code of an error", c.Name, strconv.Quote(e.Code))
		}
		if e.Text == "" || len(e.Text) > maxErrorText || strings.ContainsAny(e.Text, "\n\r\t") {
			p.fail(e.Pos, "error-text", "", "%s: the text of an error is one line of at most %d bytes", c.Name, maxErrorText)
		}
		p.checkTexts(e.Pos, e.Text)
	}
}

func (p *planner) planErrors(c *schema.Capability, method string, s *scope) []declaredError {
	var out []declaredError
	for _, e := range c.Errors {
		d := declaredError{name: "Err" + method + goName(e.Code), code: e.Code, text: e.Text}
		s.claim(d.name, "error "+e.Code+" of "+c.Name, e.Pos)
		out = append(out, d)
	}
	return out
}

// emitErrors
//
//	// What records.lookup fails with.
//	const (
//		// No record has that key.
//		ErrLookupNotFound runtime.ErrorCode = "not_found"
//	)
func emitErrors(f *jen.File, c *capability) {
	if len(c.errors) == 0 {
		return
	}
	f.Comment("// What " + c.Name + " fails with.")
	f.Const().DefsFunc(func(g *jen.Group) {
		for _, e := range c.errors {
			g.Add(doc(e.text))
			g.Id(e.name).Qual(runtimePath, "ErrorCode").Op("=").Add(text(e.code))
		}
	})
	f.Line()
}

// errorMembers
//
//	Errors: []runtime.DeclaredError{
//		{Code: ErrLookupNotFound, Text: "No record has that key."},
//	},
func errorMembers(c *capability) []jen.Code {
	if len(c.errors) == 0 {
		return nil
	}
	var items []jen.Code
	for _, e := range c.errors {
		items = append(items, jen.Values(jen.Id("Code").Op(":").Id(e.name), jen.Id("Text").Op(":").Add(text(e.text))))
	}
	out := []jen.Code{jen.Id("Errors").Op(":").Index().Qual(runtimePath, "DeclaredError").Add(multiline("{", "}", items))}
	if c.of != nil {
		out = append(out, jen.Id("Standard").Op(":").Qual(wirePath, "Codes").Call())
	}
	return out
}
