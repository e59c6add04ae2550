package review

import (
	"fmt"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
	"github.com/capgen/capgen/schema/breaking"
)

// waive gives each waiver to the one finding that it names. One that names none,
// or was for another contract or another time, is a problem: a list of waivers
// that nobody needs hides those that somebody does.
func (r *Review) waive() {
	items := map[string]*Item{}
	for _, i := range r.Items {
		items[i.ID+" "+i.Target()] = i
	}
	first := map[string]*schema.Waiver{}
	for _, w := range r.Waivers {
		name := w.Rule + " " + w.Target
		item := items[name]
		switch before := first[name]; {
		case before != nil:
			r.problem(w, "waiver-twice", fmt.Sprintf("%s already waives %s of %s", before.Pos.File, w.Rule, w.Target), "remove one of the two").Related = &before.Pos
		case w.Expires < r.Today:
			r.problem(w, "waiver-expired", fmt.Sprintf("the waiver of %s of %s has expired on %s", w.Rule, w.Target, w.Expires), "ask again, or take the change back")
		case item == nil:
			r.problem(w, "waiver-unused", fmt.Sprintf("there is no finding %s of %s", w.Rule, w.Target), "remove the file: what it let pass is in the base, or was taken back")
		case item.Level != breaking.Breaking:
			r.problem(w, "waiver-unused", fmt.Sprintf("%s of %s is a %s, which needs no waiver", w.Rule, w.Target, item.Level), "remove the file")
		case item.Fingerprint != w.Fingerprint:
			r.problem(w, "waiver-fingerprint", fmt.Sprintf("the waiver of %s of %s is for another contract", w.Rule, w.Target),
				"what was approved has changed since: have it approved again, with fingerprint "+item.Fingerprint)
		default:
			item.Waiver = w
		}
		if first[name] == nil {
			first[name] = w
		}
	}
}

func (r *Review) problem(w *schema.Waiver, rule, message, hint string) *schema.Diagnostic {
	r.Problems = append(r.Problems, schema.Diagnostic{Position: w.Pos, Severity: schema.SeverityError, Rule: rule, Message: visible.Text(message), Hint: hint})
	return &r.Problems[len(r.Problems)-1]
}

// state says what became of a waiver.
func (r *Review) state(w *schema.Waiver) string {
	for _, i := range r.Items {
		if i.Waiver == w {
			return "used"
		}
	}
	for _, p := range r.Problems {
		if p.Position == w.Pos {
			return p.Rule
		}
	}
	return "unused"
}
