package repotest

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/capgen/capgen/schema"
)

// A fragment in a document is completed with what it leaves out.
const (
	manifestHead = `capgen: 1
go: {package: example.com/tools/generated}
server: {name: tools, title: Tools, version: 0.1.0, instructions: Tools of an example.}
`
	manifestCapability = `capabilities:
  - name: example.ping
    summary: Answer at once.
    effect: read
    idempotency: natural
    world: closed
    scopes: none
    input: {type: object, properties: {}}
    output: {type: string, maxLength: 8}
`
)

// TestDocumentedManifests loads each yaml block as a manifest. One below a line
// <!-- error: rule-id --> must have exactly that error, and a text block behind
// it that begins with a position is what capgen prints; one below a line
// <!-- part: path --> is read where a manifest names that path.
func TestDocumentedManifests(t *testing.T) {
	loaded := 0
	blocks := repository(t).blocks()
	parts := map[[2]string]string{}
	for _, b := range blocks {
		parts[[2]string{b.file, b.part}] = b.text
	}
	for i, b := range blocks {
		if b.lang != "yaml" || b.from != "" || b.project != "" || b.part != "" {
			continue
		}
		loaded++
		t.Run(strings.ReplaceAll(b.at(), "/", "_"), func(t *testing.T) {
			text := b.text
			if !strings.Contains("\n"+text, "\ncapgen:") {
				text = manifestHead + text
			}
			if !strings.Contains("\n"+text, "\ncapabilities:") {
				text += manifestCapability
			}
			_, diagnostics := schema.LoadFrom([]byte(text), "capabilities.yaml", func(path string) ([]byte, error) {
				if part, ok := parts[[2]string{b.file, path}]; ok {
					return []byte(part), nil
				}
				return nil, fs.ErrNotExist
			})
			var rules []string
			for _, d := range diagnostics {
				if d.Severity == schema.SeverityError {
					rules = append(rules, d.Rule)
					t.Logf("%s:%d:%d: %s [%s]", d.File, d.Line, d.Column, d.Message, d.Rule)
				}
			}
			if got := strings.Join(rules, " "); got != b.expect {
				t.Errorf("%s: errors %q, want %q, in\n%s", b.at(), got, b.expect, text)
			}
			if b.expect != "" && i+1 < len(blocks) && blocks[i+1].file == b.file && strings.HasPrefix(blocks[i+1].text, "capabilities.yaml:") {
				var printed strings.Builder
				if err := schema.Render(&printed, diagnostics, schema.FormatText); err != nil || printed.String() != blocks[i+1].text {
					t.Errorf("%s: capgen prints\n%s%v", blocks[i+1].at(), &printed, err)
				}
			}
		})
	}
	if loaded == 0 {
		t.Error("the documents show no manifest: does this test read them?")
	}
}
