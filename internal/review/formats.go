package review

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
	"github.com/capgen/capgen/schema/breaking"
)

// maxShown is how much of what differs a line of text shows, in bytes.
const maxShown = 160

// WriteText writes a finding a line, with hints below, and a count.
func (r *Review) WriteText(w io.Writer) error {
	var diags []schema.Diagnostic
	for _, i := range r.Items {
		d := i.diagnostic(string(i.Level))
		if i.Level == breaking.Breaking && i.Waiver == nil {
			d.Hint += "; a waiver takes target " + visible.Text(i.Target()) + " and fingerprint " + i.Fingerprint
		}
		diags = append(diags, d)
	}
	if err := schema.Render(w, append(diags, r.Problems...), schema.FormatText); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n", r.counts())
	return err
}

// WriteGitHub writes a workflow command for each finding that is not a note.
func (r *Review) WriteGitHub(w io.Writer) error {
	var diags []schema.Diagnostic
	for _, i := range r.Items {
		severity := map[breaking.Level]string{breaking.Breaking: "error", breaking.Warning: "warning", breaking.Note: "notice"}[i.Level]
		if i.Waiver != nil {
			severity = "notice"
		}
		diags = append(diags, i.diagnostic(severity))
	}
	return schema.Render(w, append(diags, r.Problems...), schema.FormatGitHub)
}

// diagnostic is a finding in the form that all commands print.
func (i *Item) diagnostic(severity string) schema.Diagnostic {
	d := schema.Diagnostic{Position: i.Position, Severity: schema.Severity(severity), Rule: i.ID}
	d.Message = visible.Text(i.Target()) + ": " + i.Text
	switch {
	case i.Before != "" && i.After != "":
		d.Message += " " + short(i.Before) + " -> " + short(i.After)
	case i.Before != "":
		d.Message += " It was " + short(i.Before)
	case i.After != "":
		d.Message += " It is " + short(i.After)
	}
	d.Hint = string(i.Category) + "; breaks " + parties(i.Breaks)
	if i.Waiver != nil {
		d.Hint += "; waived by " + visible.Text(i.Waiver.Pos.File)
	}
	return d
}

// short is a text between quotation marks, cut where it is long.
func short(s string) string {
	if len(s) <= maxShown {
		return visible.Quote(s)
	}
	cut := maxShown
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return visible.Quote(s[:cut]) + fmt.Sprintf("… (%d bytes)", len(s))
}

func parties(all []breaking.Party) string {
	if len(all) == 0 {
		return "nobody"
	}
	words := make([]string, len(all))
	for i, p := range all {
		words[i] = string(p)
	}
	return strings.Join(words, ", ")
}

// counts is the verdict in a line.
func (r *Review) counts() string {
	verdict := "compatible"
	if r.Failed() {
		verdict = "not compatible"
	}
	return fmt.Sprintf("%s; breaking: %d, waived: %d, warnings: %d, notes: %d, problems of waivers: %d", verdict,
		r.count(breaking.Breaking, false), r.count(breaking.Breaking, true), r.count(breaking.Warning, false), r.count(breaking.Note, false), len(r.Problems))
}

type (
	jsonSide struct {
		Name     string `json:"name"`
		Contract string `json:"contract"`
	}
	jsonPlace struct {
		File   string `json:"file"`
		Line   int    `json:"line,omitempty"`
		Column int    `json:"column,omitempty"`
	}
	jsonFinding struct {
		Level       string           `json:"level"`
		Rule        string           `json:"rule"`
		Category    string           `json:"category"`
		Text        string           `json:"text"`
		Target      string           `json:"target"`
		Capability  string           `json:"capability"`
		Pointer     string           `json:"pointer"`
		Before      string           `json:"before"`
		After       string           `json:"after"`
		Breaks      []breaking.Party `json:"breaks"`
		Reaches     []string         `json:"reaches"`
		Fingerprint string           `json:"fingerprint"`
		Waiver      string           `json:"waiver"`
		Head        jsonPlace        `json:"head"`
		Base        *jsonPlace       `json:"base,omitempty"`
	}
	jsonWaiver struct {
		File   string `json:"file"`
		Rule   string `json:"rule"`
		Target string `json:"target"`
		State  string `json:"state"`
	}
	jsonReview struct {
		Compatible bool          `json:"compatible"`
		Base       jsonSide      `json:"base"`
		Head       jsonSide      `json:"head"`
		Findings   []jsonFinding `json:"findings"`
		Waivers    []jsonWaiver  `json:"waivers"`
	}
)

// WriteJSON writes one document, whose members stay what they are: new ones may
// come. Lists are never null.
func (r *Review) WriteJSON(w io.Writer) error {
	out := jsonReview{
		Compatible: !r.Failed(),
		Base:       jsonSide{r.BaseName, r.BaseContract}, Head: jsonSide{r.HeadName, r.HeadContract},
		Findings: []jsonFinding{}, Waivers: []jsonWaiver{},
	}
	for _, i := range r.Items {
		f := jsonFinding{
			Level: string(i.Level), Rule: i.ID, Category: string(i.Category), Text: i.Text,
			Target: i.Target(), Capability: i.Capability, Pointer: i.Pointer, Before: i.Before, After: i.After,
			Breaks: append([]breaking.Party{}, i.Breaks...), Reaches: append([]string{}, i.Reaches...),
			Fingerprint: i.Fingerprint, Head: jsonPlace(i.Position),
		}
		if i.Base.Line > 0 {
			f.Base = (*jsonPlace)(&i.Base)
		}
		if i.Waiver != nil {
			f.Waiver = i.Waiver.Pos.File
		}
		out.Findings = append(out.Findings, f)
	}
	for _, waiver := range r.Waivers {
		out.Waivers = append(out.Waivers, jsonWaiver{waiver.Pos.File, waiver.Rule, waiver.Target, r.state(waiver)})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
