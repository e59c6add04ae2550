package schema

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Format is how Render writes findings.
type Format string

// The formats of Render.
const (
	// FormatText is one line a finding, with indented lines for the hint,
	// the nearest name and the second position.
	FormatText Format = "text"
	// FormatJSON is one JSON document: {"diagnostics": [...]}.
	FormatJSON Format = "json"
	// FormatGitHub is one workflow command a finding, which GitHub shows on
	// the line of a pull request.
	FormatGitHub Format = "github"
)

// Render writes findings to w in the order given. An unknown format is an
// error, as is what w returns.
func Render(w io.Writer, diags []Diagnostic, format Format) error {
	var b strings.Builder
	switch format {
	case FormatText:
		for _, d := range diags {
			renderText(&b, d)
		}
	case FormatJSON:
		if err := renderJSON(&b, diags); err != nil {
			return fmt.Errorf("schema: render: %w", err)
		}
	case FormatGitHub:
		for _, d := range diags {
			renderGitHub(&b, d)
		}
	default:
		return fmt.Errorf("schema: render: unknown format %q", format)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("schema: render: %w", err)
	}
	return nil
}

func renderText(b *strings.Builder, d Diagnostic) {
	b.WriteString(d.String())
	b.WriteByte('\n')
	for _, line := range details(d) {
		b.WriteString("    ")
		b.WriteString(line)
		b.WriteByte('\n')
	}
}

// details are the lines that follow the message.
func details(d Diagnostic) []string {
	var lines []string
	if d.Hint != "" {
		lines = append(lines, "hint: "+d.Hint)
	}
	if d.Nearest != "" {
		lines = append(lines, fmt.Sprintf("did you mean %s?", quote(d.Nearest)))
	}
	if d.Related != nil {
		lines = append(lines, "see also "+d.Related.String())
	}
	return lines
}

type jsonPosition struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

type jsonDiagnostic struct {
	jsonPosition
	Severity Severity      `json:"severity"`
	Rule     string        `json:"rule"`
	Message  string        `json:"message"`
	Hint     string        `json:"hint,omitempty"`
	Nearest  string        `json:"nearest,omitempty"`
	Related  *jsonPosition `json:"related,omitempty"`
}

func renderJSON(b *strings.Builder, diags []Diagnostic) error {
	out := make([]jsonDiagnostic, len(diags))
	for i, d := range diags {
		out[i] = jsonDiagnostic{
			jsonPosition: jsonPosition(d.Position),
			Severity:     d.Severity, Rule: d.Rule, Message: d.Message,
			Hint: d.Hint, Nearest: d.Nearest,
		}
		if d.Related != nil {
			p := jsonPosition(*d.Related)
			out[i].Related = &p
		}
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"diagnostics": out})
}

// renderGitHub writes
//
//	::error file=capabilities.yaml,line=3,col=5,title=rule::message
func renderGitHub(b *strings.Builder, d Diagnostic) {
	fmt.Fprintf(b, "::%s file=%s", d.Severity, gitHubProperty(d.File))
	if d.Line > 0 {
		fmt.Fprintf(b, ",line=%d,col=%d", d.Line, d.Column)
	}
	text := strings.Join(append([]string{d.Message}, details(d)...), "\n")
	fmt.Fprintf(b, ",title=%s::%s\n", gitHubProperty(d.Rule), gitHubData(text))
}

// gitHubData escapes what would end a workflow command or start another.
func gitHubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func gitHubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
