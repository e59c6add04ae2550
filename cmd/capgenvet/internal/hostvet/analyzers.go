package hostvet

import (
	"fmt"
	"go/token"
	"reflect"

	"golang.org/x/tools/go/analysis"
)

// Rules, by the names that comments and flags use.
const (
	ruleEntry    = "workerentry"
	ruleInit     = "quietinit"
	ruleStdout   = "stdout"
	ruleReadonly = "readonly"
)

const url = "https://github.com/capgen/capgen/blob/main/docs/reference/vet.md"

// Analyzers returns the analyzers, for one driver: they share what reach
// finds. A driver may run them concurrently, on different packages.
func Analyzers() []*analysis.Analyzer {
	reach := &analysis.Analyzer{
		Name:       "reach",
		Doc:        "check the comments that begin with capgenvet:\n\nAn answer to a finding names a rule and a reason. What functions reach is collected here too, for the other rules.",
		URL:        url,
		Run:        func(pass *analysis.Pass) (any, error) { return collect(pass) },
		ResultType: reflect.TypeFor[*summary](),
		FactTypes:  []analysis.Fact{new(reaches), new(initialization), new(handles), new(entersWorker)},
	}
	rule := func(name, doc string, run func(reporter)) *analysis.Analyzer {
		return &analysis.Analyzer{
			Name:     name,
			Doc:      doc,
			URL:      url + "#" + name,
			Requires: []*analysis.Analyzer{reach},
			Run: func(pass *analysis.Pass) (any, error) {
				r := reporter{pass: pass, summary: pass.ResultOf[reach].(*summary), rule: name, seen: map[string]bool{}}
				if !r.summary.skipped {
					run(r)
					r.unused()
				}
				return nil, nil
			},
		}
	}
	return []*analysis.Analyzer{
		reach,
		rule(ruleEntry, "runtime.ServeWorkerAndExit is the first statement of main, and of TestMain\n\nA worker is the host's own binary, started again: what stands before the entry runs in each worker, outside of the sandbox.", workerEntry),
		rule(ruleInit, "package initialization does nothing but make values\n\nEach worker initializes every package of its host before it enters the sandbox.", quietInit),
		rule(ruleStdout, "nothing that a host reaches writes to standard output\n\nOver stdio, standard output is the protocol.", quietStdout),
		rule(ruleReadonly, "a handler of effect read reaches no obvious write\n\nClients may run what is declared to read without asking anybody.", readOnly),
	}
}

// reporter reports what one rule finds in one package, once for each place.
type reporter struct {
	pass    *analysis.Pass
	summary *summary
	rule    string
	seen    map[string]bool
}

func (r reporter) report(pos token.Pos, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	at := r.pass.Fset.Position(pos)
	key := fmt.Sprintf("%s:%d %s", at.Filename, at.Line, message)
	if r.seen[key] || r.summary.directives.allows(r.rule, at) {
		return
	}
	r.seen[key] = true
	r.pass.Report(analysis.Diagnostic{Pos: pos, Category: r.rule, Message: message + " [" + r.rule + "]"})
}

// unused reports the comments of the rule that nothing needed.
func (r reporter) unused() {
	for _, d := range r.summary.directives.all {
		if d.rule == r.rule && !d.used {
			r.pass.Report(analysis.Diagnostic{Pos: d.pos, Category: r.rule, Message: "nothing on this line needs to be allowed: remove the comment [" + r.rule + "]"})
		}
	}
}
