package program_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/program"
)

// What is kept is what CPython would print, of a program that fails too.
func TestPrints(t *testing.T) {
	for source, want := range map[string]program.Prints{
		`print("a", 1, None, [True, "x"], 1.0)`:    {Text: "a 1 None [True, 'x'] 1.0\n"},
		`print()`:                                  {Text: "\n"},
		`print("a", "b", sep="", end="!")`:         {Text: "ab!"},
		`print("a", "b", sep=None, end=None)`:      {Text: "a b\n"},
		"print('ä\\t\\x1b')":                       {Text: "ä\t\x1b\n"},
		"print(1)\n1 / 0":                          {Text: "1\n"},
		"print(1)\nx = 0\nwhile True: x += 1":      {Text: "1\n"},
		"def main():\n  print(1)\n  return 2":      {Text: "1\n"},
		"print('a', sep=1)":                        {},
		"print(":                                   {},
		"l = []\nl.append(l)\nprint('a', l)":       {Text: "a [[...]]\n"},
		"parallel([lambda: print(1)])":             {Text: "1\n"},
		"print('x' * 16383)":                       {Text: strings.Repeat("x", 16383) + "\n"},
		"print('x' * 16384)\nprint('more')":        {Text: strings.Repeat("x", 16384), Cut: true},
		"print('x' * 16382 + 'äö')\nprint('more')": {Text: strings.Repeat("x", 16382) + "ä", Cut: true},
		"print('x' * 16383 + 'äö')":                {Text: strings.Repeat("x", 16383), Cut: true},
		"for i in range(9000): print(end='ab')":    {Text: strings.Repeat("ab", 8192), Cut: true},
	} {
		kept, _ := program.Run(program.Program{Source: source, Limits: limits(), Prints: true}, table(t), &host{t: t})
		if diff := cmp.Diff(want, kept.Prints); diff != "" {
			t.Errorf("%.60s (-want +got):\n%s", source, diff)
		}
		if !utf8.ValidString(kept.Prints.Text) || len(kept.Prints.Text) > program.MaxPrintBytes {
			t.Errorf("%.60s: %d bytes", source, len(kept.Prints.Text))
		}
		dropped, _ := program.Run(program.Program{Source: source, Limits: limits()}, table(t), &host{t: t})
		if dropped.Prints != (program.Prints{}) {
			t.Errorf("%.60s: kept %q without being asked to", source, dropped.Prints.Text)
		}
		if kept.Steps != dropped.Steps || string(kept.Value) != string(dropped.Value) {
			t.Errorf("%.60s: the program sees whether its prints are kept", source)
		}
	}
}

// What is handed on comes as it is printed, in order, and is not kept.
func TestPrintsHandedOn(t *testing.T) {
	var got []string
	result, failed := program.Run(program.Program{
		Source: "print('a', 1)\nprint('\\xff', end='')\nparallel([lambda: print(2)])\n1 / 0", Limits: limits(),
		Print: func(text string) { got = append(got, text) },
	}, table(t), &host{t: t})
	if want := "a 1\nÿ2\n"; strings.Join(got, "") != want || result.Prints.Text != "" || failed == nil {
		t.Errorf("%q, kept %q, %v", got, result.Prints.Text, failed)
	}
}
