package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	if os.Getenv(loadVariable) != "" {
		os.Exit(serveLoad())
	}
	os.Exit(m.Run())
}

// suite finds the shared programs beside the repository.
func suite(t *testing.T) string {
	path := suiteIfThere()
	if path == "" {
		t.Skip("the shared suite of programs is not beside this repository")
	}
	return path
}

// suiteIfThere is empty where there is none.
func suiteIfThere() string {
	directory, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		path := filepath.Join(directory, "shared", "suites", "programs")
		if _, err := os.Stat(filepath.Join(path, "expected.json")); err == nil {
			return path
		}
		parent := filepath.Dir(directory)
		if parent == directory {
			return ""
		}
		directory = parent
	}
}

// waiting are the programs whose constructs do not run yet, with what their
// author is told.
func waiting() map[string]string {
	return map[string]string{
		"21_regex.py":       `["invalid_program",1,8,"the module re is not available","use str methods: find, split, partition, startswith, replace"]`,
		"36_dataclass.py":   `["invalid_program",4,1,"class is not available","use dicts for data and functions for what is done with it"]`,
		"37_defaultdict.py": `["invalid_program",1,25,"the module collections is not available","use a dict with setdefault or get, and a list"]`,
		"38_counter.py":     `["invalid_program",1,25,"the module collections is not available","use a dict with setdefault or get, and a list"]`,
		"48_with_open.py":   `["invalid_program",2,5,"with is not available","there is nothing to close in a program: call what you need directly"]`,
		"60_match_stmt.py":  `["invalid_program",3,5,"match is not available","write if and elif"]`,
	}
}

// TestSharedPrograms runs programs as agents write them, and compares with
// what CPython answered.
func TestSharedPrograms(t *testing.T) {
	directory := suite(t)
	text, err := os.ReadFile(filepath.Join(directory, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string][2]string
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	server := start(t)
	equal := 0
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join(directory, name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := server.Execute(t.Context(), authz.Local(), string(source))
			check, checkErr := server.Check(t.Context(), authz.Local(), string(source))
			if checkErr != nil || (err == nil) != (len(check.Problems) == 0) {
				t.Errorf("the check finds %+v, %v; the run %v", check.Problems, checkErr, err)
			}
			if told, waits := waiting()[name]; waits {
				if diff := cmp.Diff(told, explain(err)); diff != "" {
					t.Errorf("diagnostic (-want +got):\n%s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(explain(err))
			}
			if want[0] != "ok" {
				t.Fatalf("ran, where CPython says %s", want)
			}
			if diff := cmp.Diff(value(t, want[1]), value(t, string(got.Result))); diff != "" {
				t.Errorf("(-CPython +here):\n%s", diff)
			}
			equal++
		})
	}
	if want := len(expected) - len(waiting()); equal != want || want < 42 {
		t.Errorf("%d of %d programs equal CPython, all but %d must", equal, len(expected), len(waiting()))
	}
}

func start(t *testing.T) *runtime.Server {
	server, err := build(context.Background(), host.Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server
}

// value is JSON, in which 4 is 4.0.
func value(t *testing.T, text string) (v any) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// explain is what the author of a program reads.
func explain(err error) string {
	var failure *runtime.Error
	if !errors.As(err, &failure) {
		return "no failure"
	}
	f := failure.Fault()
	text, _ := json.Marshal([]any{f.Class, f.Line, f.Column, f.Message, f.Hint})
	return string(text)
}
