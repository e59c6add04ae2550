package format

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"
)

// rows reads a file of tab-separated answers of CPython (testdata/record.py).
func rows(t *testing.T, name string, columns int) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out [][]string
	for s := bufio.NewScanner(f); s.Scan(); {
		row := strings.Split(s.Text(), "\t")
		if len(row) != columns {
			t.Fatalf("%s: %q has %d columns", name, s.Text(), len(row))
		}
		out = append(out, row)
	}
	if len(out) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return out
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}

func TestSpecIsCPythons(t *testing.T) {
	for _, row := range rows(t, "format.txt", 4) {
		kind, value, text, want := row[0], row[1], row[2], row[3]
		got, err := "", error(nil)
		spec, err := Parse(text)
		if err != nil {
			err = Complete(err, text, kind)
		} else {
			switch kind {
			case "float":
				got, err = spec.Float(float(t, value))
			case "int":
				n, _ := new(big.Int).SetString(value, 10)
				got, err = spec.Int(n)
			case "str":
				got, err = spec.Text(value, "str")
			}
		}
		answer := "=" + got
		var e *Error
		if errors.As(err, &e) {
			answer = e.Kind + ": " + e.Message
		}
		if answer != want {
			t.Errorf("format(%s %s, %q): %s, CPython says %s", kind, value, text, answer, want)
		}
	}
}

func TestReprIsCPythons(t *testing.T) {
	for _, row := range rows(t, "repr.txt", 2) {
		if got := Repr(float(t, row[0])); got != row[1] {
			t.Errorf("repr of %s: %s, CPython says %s", row[0], got, row[1])
		}
	}
}
