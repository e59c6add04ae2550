package program_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/program"
)

// TestProgramsAnswerAsCPython runs the programs of testdata/differential, whose
// answers record.py wrote with CPython.
func TestProgramsAnswerAsCPython(t *testing.T) {
	files, err := filepath.Glob("testdata/differential/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			sameAnswers(t, string(text))
		})
	}
}

// sameAnswers runs the programs of a file and compares; it returns how many
// there are.
func sameAnswers(t *testing.T, file string) int {
	t.Helper()
	chunks := strings.Split(file, "===\n")
	for _, chunk := range chunks {
		source, want, ok := strings.Cut(chunk, "---\n")
		if !ok {
			t.Fatalf("a program without answer:\n%s", chunk)
		}
		if got := answer(t, source); !sameAnswer(got, strings.TrimSuffix(want, "\n")) {
			t.Errorf("%s\n got     %s\n CPython %s", source, got, want)
		}
	}
	return len(chunks)
}

// answer is what record.py writes of a program.
func answer(t *testing.T, source string) string {
	r, f := program.Run(program.Program{Source: source, Limits: limits()}, table(t), &host{t: t})
	if f == nil {
		return "ok " + toJSON(t, r.Value)
	}
	return f.Message
}

// sameAnswer compares values as JSON, in which 1 and 1.0 differ here. Of syntax
// errors CPython says one thing and the program's author is told another, and
// an unknown name comes with the nearest known one.
func sameAnswer(got, want string) bool {
	value, ok := strings.CutPrefix(want, "ok ")
	if !ok {
		got, _, _ = strings.Cut(got, " (did you mean ")
		refused := !strings.HasPrefix(got, "ok ")
		switch want {
		case "SyntaxError", "IndentationError":
			return refused
		case "RecursionError":
			return strings.Contains(got, "deep")
		}
		return got == want
	}
	ours, ok := strings.CutPrefix(got, "ok ")
	return ok && cmp.Equal(parsed(ours), parsed(value))
}

func parsed(s string) any {
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	return floats(v)
}

// floats makes one of each number that is written as one: 1e+17 and 1.0e17 are
// the same, and 1 is no float.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			f, _ := v.Float64()
			return f
		}
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = floats(v[key])
		}
	}
	return v
}
