package codegen

import (
	"strconv"
	"strings"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// Rule is one thing that a manifest says of how a capability's calls go or what
// of their results reaches a program, as lock files and `capgen show` tell it.
type Rule struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Rules are those of c, in a fixed order; none for most capabilities.
func Rules(c *schema.Capability) []Rule {
	var out []Rule
	add := func(name, text string) { out = append(out, Rule{name, text}) }
	if c.Approval != nil {
		text := c.Approval.Text()
		if c.Of != nil {
			text += " of=" + c.Of.Name + " effect=" + c.Of.Effect + " contract=sha256:" + Digest(c.Of)
		}
		add("approval", text)
	}
	if c.Run != nil {
		add("runner", c.Run.Text())
		add("limits", c.Run.Limits.Text())
	}
	if c.Timeout > 0 {
		add("timeout", c.TimeoutText())
	}
	if c.Retry != nil {
		add("retry", "max="+strconv.Itoa(c.Retry.Max)+" on="+strings.Join(c.Retry.On, ","))
	}
	if name := c.ToolName(); name != "" {
		add("direct_tool", name)
	}
	if c.OutputCheck == schema.Report {
		add("output_check", schema.Report)
	}
	for _, p := range c.Fixed() {
		add("fixed", p.Name+"="+p.Default)
	}
	if len(c.Keep) > 0 {
		add("keep", strings.Join(c.Keep, " "))
	}
	if c.Limits != nil {
		add("limits", "items="+orNone(c.Limits.Items)+" bytes="+orNone(c.Limits.Bytes))
	}
	if p := c.Pagination; p != nil {
		add("pagination", "cursor_in="+p.CursorIn+" cursor_out="+p.CursorOut+" items="+p.Items)
	}
	return out
}

func orNone(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

// rules writes a line for each rule, behind the authority that they are part of.
func (l lockWriter) rules(c *schema.Capability) {
	for _, r := range Rules(c) {
		l.line(r.Name, visible.Text(r.Text))
	}
}

// shapingMembers are what a runtime knows of the rules.
//
//	Call: runtime.CallRules{
//		Timeout:  2000 * time.Millisecond,
//		RetryOn:  []string{"busy"},
//		RetryMax: 2,
//	},
func shapingMembers(c *capability) []jen.Code {
	var out []jen.Code
	add := func(name, kind string, members []jen.Code) {
		if len(members) > 0 {
			out = append(out, jen.Id(name).Op(":").Qual(runtimePath, kind).Add(multiline("{", "}", members)))
		}
	}
	add("Call", "CallRules", callMembers(c.Capability))
	add("Result", "ResultRules", resultMembers(c.Capability))
	return out
}

func callMembers(c *schema.Capability) []jen.Code {
	var out []jen.Code
	if c.Timeout > 0 {
		out = append(out, jen.Id("Timeout").Op(":").Lit(int(c.Timeout/time.Millisecond)).Op("*").Qual("time", "Millisecond"))
	}
	if names := fixedNames(c); names != nil {
		out = append(out, jen.Id("Fixed").Op(":").Index().String().Values(texts(names)...))
	}
	if c.Retry != nil {
		out = append(out,
			jen.Id("RetryOn").Op(":").Index().String().Values(texts(c.Retry.On)...),
			jen.Id("RetryMax").Op(":").Lit(c.Retry.Max),
		)
	}
	return out
}

func fixedNames(c *schema.Capability) []string {
	var out []string
	for _, p := range c.Fixed() {
		out = append(out, p.Name)
	}
	return out
}

func resultMembers(c *schema.Capability) []jen.Code {
	var out []jen.Code
	if c.OutputCheck == schema.Report {
		out = append(out, jen.Id("Report").Op(":").True())
	}
	if len(c.Keep) > 0 {
		out = append(out, jen.Id("Keep").Op(":").Index().String().Values(texts(c.Keep)...))
	}
	if c.Limits != nil {
		out = append(out, jen.Id("Cut").Op(":").Qual(runtimePath, "Cut").Values(cutMembers(c)...))
	}
	return out
}

func cutMembers(c *schema.Capability) []jen.Code {
	var out []jen.Code
	if c.Limits.Items > 0 {
		out = append(out, jen.Id("Items").Op(":").Lit(c.Limits.Items))
	}
	if c.Limits.Bytes > 0 {
		out = append(out, jen.Id("Bytes").Op(":").Lit(c.Limits.Bytes))
	}
	if p := c.Pagination; p != nil {
		out = append(out, jen.Id("List").Op(":").Add(text(p.Items)), jen.Id("Next").Op(":").Add(text(p.CursorOut)))
	}
	return out
}
