package codegen

import (
	"path"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

// runMembers are those that the terms of a run have beside all others'; none
// for nil.
//
//	Runner:  "starlark",
//	Sandbox: "worker",
//	Limits: govern.RunLimits{
//		Wall: 60 * time.Second,
//		…
//	},
func runMembers(r *schema.Run) []jen.Code {
	if r == nil {
		return nil
	}
	member := func(name string, value jen.Code) jen.Code { return jen.Id(name).Op(":").Add(value) }
	l := r.Limits
	return []jen.Code{
		member("Runner", text(r.Runner)),
		member("Sandbox", text(r.Sandbox)),
		member("Limits", jen.Qual(governPath, "RunLimits").Add(multiline("{", "}", []jen.Code{
			member("Wall", duration(l.Wall)),
			member("CPU", duration(l.CPU)),
			member("Memory", size(l.Memory)),
			member("Output", size(l.Output)),
			member("Result", size(l.Result)),
			member("Processes", jen.Lit(l.Processes)),
			member("Parallel", jen.Lit(l.Parallel)),
		}))),
	}
}

// duration
//
//	60 * time.Second
func duration(d time.Duration) jen.Code {
	if d%time.Second == 0 {
		return jen.Lit(int(d/time.Second)).Op("*").Qual("time", "Second")
	}
	return jen.Lit(int(d/time.Millisecond)).Op("*").Qual("time", "Millisecond")
}

// size
//
//	256 << 20
func size(n int64) jen.Code {
	shift := 0
	for shift < 30 && n%1024 == 0 {
		n, shift = n/1024, shift+10
	}
	if shift == 0 {
		return jen.Lit(int(n))
	}
	return jen.Lit(int(n)).Op("<<").Lit(shift)
}

func resultsType() *jen.Statement {
	return jen.Map(jen.String()).Func().Params(jen.Index().Byte()).Params(jen.Index().Byte(), jen.Error())
}

// emitResults
//
//	// Results check the results of runs of site and write them canonically, by the
//	// id of the capability.
//	func Results() map[string]func([]byte) ([]byte, error) {
//		return map[string]func([]byte) ([]byte, error){
//			"site.check": wire.Result[CheckOutput],
//		}
//	}
func emitResults(f *jen.File, n *namespace) {
	var members []jen.Code
	for _, c := range n.capabilities {
		if c.Step == schema.StepStart {
			members = append(members, jen.Add(text(c.of.ID)).Op(":").Qual(wirePath, "Result").Types(typeExpr(c.of.output)))
		}
	}
	f.Line()
	f.Comment("// Results check the results of runs of " + n.name + " and write them canonically, by the")
	f.Comment("// id of the capability.")
	f.Func().Id("Results").Params().Add(resultsType()).Block(jen.Return(resultsType().Add(multiline("{", "}", members))))
}

// emitCatalogResults
//
//	// Results check the results of runs and write them canonically, by the id of
//	// the capability.
//	func Results() map[string]func([]byte) ([]byte, error) {
//		return wire.Results(site.Results())
//	}
//
// A build that holds no run has none:
//
//	return nil
func emitCatalogResults(f *jen.File, p *plan) {
	var all []jen.Code
	for _, n := range p.namespaces {
		if n.runs {
			all = append(all, jen.Qual(path.Join(p.pkg, n.dir), "Results").Call())
		}
	}
	value := jen.Nil()
	if len(all) > 0 {
		value = jen.Qual(wirePath, "Results").Call(all...)
	}
	f.Line()
	f.Comment("// Results check the results of runs and write them canonically, by the id of")
	f.Comment("// the capability.")
	f.Func().Id("Results").Params().Add(resultsType()).Block(jen.Return(value))
}
