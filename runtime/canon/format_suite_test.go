package canon_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
)

// formatDifferences are texts of the JSON Schema suite that are judged in
// another way on purpose, each with the reason. One that is not met any more
// fails.
func formatDifferences() map[string]string {
	const quoted = "a local part is a dot-string (RFC 5321 section 4.1.2): quoted ones are hardly ever meant, and are read apart in different ways"
	const literal = "a domain is a name: mail to an address of a host is hardly ever meant"
	return map[string]string{
		`email "joe bloggs"@example.com`:             quoted,
		`email "joe..bloggs"@example.com`:            quoted,
		`email "joe@bloggs"@example.com`:             quoted,
		`email joe.bloggs@[127.0.0.1]`:               literal,
		`email joe.bloggs@[IPv6:::1]`:                literal,
		"duration P" + strings.Repeat("9", 78) + "D": "a number beyond 64 bits has no accessor",
	}
}

// The formats agree with the JSON Schema suite, which nobody here has written.
func TestFormatsOfSuite(t *testing.T) {
	dir := ""
	for above := ".."; len(above) < 30 && dir == ""; above += "/.." {
		dir = filepath.Join(above, "shared", "suites", "json-schema", "tests", "draft2020-12", "optional", "format")
		if _, err := os.Stat(dir); err != nil {
			dir = ""
		}
	}
	if dir == "" {
		t.Skip("the JSON Schema suite is in no folder above the module")
	}
	differ, tests := formatDifferences(), 0
	for _, name := range canon.Formats() {
		text, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct {
			Tests []struct {
				Description string
				Data        any
				Valid       bool
			}
		}
		if err := json.Unmarshal(text, &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			for _, test := range g.Tests {
				s, ok := test.Data.(string)
				if !ok {
					continue // formats say nothing of other types
				}
				tests++
				id := name + " " + s
				agrees := canon.Format(name).Valid(s) == test.Valid
				if _, meant := differ[id]; meant {
					if agrees || !test.Valid {
						t.Errorf("%q is judged as the suite does, or taken where the suite refuses it: it is no difference", id)
					}
					delete(differ, id)
				} else if !agrees {
					t.Errorf("%s %q: valid should be %v: %s", name, s, test.Valid, test.Description)
				}
			}
		}
	}
	for id, reason := range differ {
		t.Errorf("the suite has no test %q any more (%s)", id, reason)
	}
	t.Logf("%d texts", tests)
	if tests < 300 {
		t.Errorf("%d texts are too few to say anything", tests)
	}
}
