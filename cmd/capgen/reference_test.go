package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The reference page has the commands and flags that capgen has, and no others.
func TestReferencePage(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	page, _, _ := strings.Cut(string(text), "\n## workspace")
	rows := func(pattern string) []string {
		var names []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(page, -1) {
			names = append(names, m[1])
		}
		slices.Sort(names)
		return names
	}
	var names, flags []string
	for _, c := range commands() {
		names = append(names, c.name)
		for _, f := range c.flags {
			if !slices.Contains(flags, f) {
				flags = append(flags, f)
			}
			row := regexp.MustCompile("(?m)^\\| `--" + f + "[ `].*$").FindString(page)
			if !strings.Contains(row, c.name) {
				t.Errorf("the row of --%s does not name %s: %q", f, c.name, row)
			}
		}
	}
	slices.Sort(names)
	slices.Sort(flags)
	if got := rows("(?m)^\\| `capgen ([a-z]+)"); !slices.Equal(got, names) {
		t.Errorf("the page has commands %v, capgen has %v", got, names)
	}
	if got := rows("(?m)^\\| `--([a-z-]+)"); !slices.Equal(got, flags) {
		t.Errorf("the page has flags %v, capgen has %v", got, flags)
	}
}
