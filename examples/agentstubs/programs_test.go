package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/capgen/capgen/authz"
)

// TestPrograms compares what programs return with what CPython answered, and
// has each checked before: a check must find nothing in a program that runs.
func TestPrograms(t *testing.T) {
	programs, err := txtar.ParseFile("testdata/programs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var answers map[string]any
	if err := json.Unmarshal(text, &answers); err != nil {
		t.Fatal(err)
	}
	if len(answers) != len(programs.Files) || len(answers) < 70 {
		t.Fatalf("%d answers to %d programs", len(answers), len(programs.Files))
	}
	server := start(t)
	for _, p := range programs.Files {
		t.Run(p.Name, func(t *testing.T) {
			found, err := server.Check(t.Context(), authz.Local(), string(p.Data))
			if err != nil || len(found.Problems) > 0 {
				t.Errorf("check: %+v, %v", found.Problems, err)
			}
			got, err := server.Execute(t.Context(), authz.Local(), string(p.Data))
			if err != nil {
				t.Fatal(explain(err))
			}
			if diff := cmp.Diff(answers[p.Name], value(t, string(got.Result))); diff != "" {
				t.Errorf("(-CPython +here):\n%s", diff)
			}
			reached := map[string]bool{}
			for _, c := range found.Capabilities {
				reached[c.Name] = true
			}
			for _, c := range got.Receipt.Calls {
				if !reached[c.Name] {
					t.Errorf("the check does not name %s, which was called", c.Name)
				}
			}
		})
	}
}
