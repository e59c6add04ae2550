package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxDiagnostics is how many findings Load returns at most, a closing
	// one that counts the rest not included.
	MaxDiagnostics = 200

	// keptFindings bounds what is held before sorting, so that a file of
	// nothing but mistakes costs bounded memory.
	keptFindings = 10_000
)

// String is file:line:column, or what is known of it.
func (p Position) String() string {
	if p.Line == 0 {
		return plain(p.File, maxQuotedPath)
	}
	return fmt.Sprintf("%s:%d:%d", plain(p.File, maxQuotedPath), p.Line, p.Column)
}

func (p Position) compare(q Position) int {
	return cmp.Or(
		strings.Compare(p.File, q.File),
		cmp.Compare(p.Line, q.Line),
		cmp.Compare(p.Column, q.Column),
	)
}

// String is the first line Render writes: position, severity, message, rule.
func (d Diagnostic) String() string {
	return fmt.Sprintf("%s: %s: %s [%s]", d.Position, d.Severity, d.Message, d.Rule)
}

// HasErrors tells whether one of the findings is an error.
func HasErrors(diags []Diagnostic) bool {
	return slices.ContainsFunc(diags, func(d Diagnostic) bool { return d.Severity == SeverityError })
}

// Sort orders findings by file, line, column, rule and message, drops exact
// repetitions, and cuts the list to MaxDiagnostics; what was cut, and the
// more findings that a producer did not even keep, are counted in one closing
// finding. It reorders diags in place and returns the result.
func Sort(diags []Diagnostic, more int) []Diagnostic {
	slices.SortStableFunc(diags, func(a, b Diagnostic) int {
		return cmp.Or(
			a.Position.compare(b.Position),
			strings.Compare(a.Rule, b.Rule),
			strings.Compare(a.Message, b.Message),
		)
	})
	diags = slices.CompactFunc(diags, func(a, b Diagnostic) bool {
		return a.Position == b.Position && a.Rule == b.Rule && a.Message == b.Message
	})
	if len(diags) <= MaxDiagnostics && more == 0 {
		return diags
	}
	shown, cut := diags, []Diagnostic(nil)
	if len(diags) > MaxDiagnostics {
		shown, cut = diags[:MaxDiagnostics:MaxDiagnostics], diags[MaxDiagnostics:]
	}
	closing := Diagnostic{
		Severity: SeverityWarning,
		Rule:     ruleTooManyFindings,
		Message:  fmt.Sprintf("%d more findings are not shown", len(cut)+more),
	}
	if len(shown) > 0 {
		closing.Position = Position{File: shown[len(shown)-1].File}
	}
	// The closing finding stands for what it hides: an error behind two
	// hundred warnings must still count as one.
	if more > 0 || HasErrors(cut) {
		closing.Severity = SeverityError
	}
	return append(shown, closing)
}

// finding is a Diagnostic under construction.
type finding struct{ Diagnostic }

func (f *finding) hint(format string, args ...any) *finding {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

func (f *finding) related(p Position) *finding {
	f.Related = &p
	return f
}

// report collects findings.
type report struct {
	findings []*finding
	dropped  int
	failed   bool
	// nodes counts the values that were read of all files.
	nodes int
	// comparisons left for nearest: a file of wrong names must not cost
	// (names × candidates) edit distances.
	comparisons int
}

func newReport() *report { return &report{comparisons: 200_000} }

func (r *report) add(s Severity, at Position, rule, format string, args ...any) *finding {
	f := &finding{Diagnostic{Position: at, Severity: s, Rule: rule, Message: fmt.Sprintf(format, args...)}}
	if s == SeverityError {
		r.failed = true
	}
	if len(r.findings) == keptFindings {
		r.dropped++
		return f
	}
	r.findings = append(r.findings, f)
	return f
}

func (r *report) errorf(at Position, rule, format string, args ...any) *finding {
	return r.add(SeverityError, at, rule, format, args...)
}

func (r *report) warnf(at Position, rule, format string, args ...any) *finding {
	return r.add(SeverityWarning, at, rule, format, args...)
}

// nearest sets the candidate closest to name, when one is close enough.
func (r *report) nearest(f *finding, name string, candidates []string) *finding {
	f.Nearest = nearestName(name, candidates, &r.comparisons)
	return f
}

func (r *report) diagnostics() []Diagnostic {
	if len(r.findings) == 0 {
		return nil
	}
	diags := make([]Diagnostic, len(r.findings))
	for i, f := range r.findings {
		diags[i] = f.Diagnostic
	}
	return Sort(diags, r.dropped)
}
