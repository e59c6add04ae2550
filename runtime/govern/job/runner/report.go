package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// MaxReport is how many bytes a report has at most.
const MaxReport = 50_000

// Bounds of a report.
const (
	maxReport = 48 << 10 // bytes, but for a line that says that there is more
	maxRows   = 100      // rows of the table of a result
	maxCell   = 240      // bytes of one of its values, or of a name
	maxList   = 8        // items of a list that stands in one row
	maxIndent = 12       // containers within each other, of which each has lines of its own
)

// Result is what a report is about. But for times, and for JSON, all of it may be
// any text.
type Result struct {
	Title      string // what it was for, in a line
	Job, Plan  string
	Capability string // name
	State      string
	Runner     string
	// Sandbox and Scope are the tiers that confined and held it.
	Sandbox, Scope string
	SHA256         string // of JSON
	// Created, Started and Ended are left out where they are zero.
	Created, Started, Ended time.Time
	// JSON is the result, nil where there is none.
	JSON []byte
}

// Report is a page about a job and its result, in CommonMark with tables. Whatever
// a candidate, or who asked for it, has written stands between backquotes or in one
// fenced block, and has neither backquotes nor line breaks of its own: it can be no
// heading, link, markup or row of a table. A long one is cut, and says so.
func Report(r Result) string {
	var b strings.Builder
	b.WriteString("# Result of a run\n\n")
	if r.Title != "" {
		b.WriteString(code(r.Title) + "\n\n")
	}
	row := func(name, value string) {
		if value != "" {
			b.WriteString("| " + name + " | " + value + " |\n")
		}
	}
	b.WriteString("| Run | |\n|---|---|\n")
	for _, fact := range [][2]string{
		{"Capability", r.Capability}, {"State", r.State}, {"Job", r.Job}, {"Plan", r.Plan}, {"Runner", r.Runner},
		{"Sandbox", r.Sandbox}, {"Scope", r.Scope}, {"SHA-256 of the result", r.SHA256},
	} {
		if fact[1] != "" {
			row(fact[0], code(fact[1]))
		}
	}
	for _, moment := range []struct {
		name string
		at   time.Time
	}{{"Created", r.Created}, {"Started", r.Started}, {"Ended", r.Ended}} {
		if !moment.at.IsZero() {
			row(moment.name, moment.at.UTC().Format("2006-01-02 15:04:05 UTC"))
		}
	}
	if took := r.Ended.Sub(r.Started); !r.Started.IsZero() && took >= 0 {
		row("Took", fmt.Sprintf("%.1f s", took.Seconds()))
	}
	if r.JSON != nil {
		b.WriteString("\n## Result\n\n")
		reportResult(&b, r.JSON)
	}
	return b.String()
}

// reportResult writes what of an object fits a row as a table, and what is left as
// JSON.
func reportResult(b *strings.Builder, text []byte) {
	value, err := parse(text)
	if err != nil {
		b.WriteString("It cannot be shown: it is not JSON.\n")
		return
	}
	if members, ok := value.(map[string]any); ok {
		rest := reportRows(b, members)
		switch {
		case len(members) == 0:
			b.WriteString("It is empty.\n")
			return
		case len(rest) == 0:
			return
		case len(rest) < len(members):
			b.WriteString("\n")
		}
		value = rest
	}
	block := block{room: max(0, maxReport-b.Len())}
	block.value(value, 0)
	b.WriteString("```json\n" + block.out.String() + "\n```\n")
	if block.full {
		b.WriteString("\nThe rest is left out here.\n")
	}
}

// reportRows writes the members that fit rows as a table, as long as there is room,
// and returns the others. An object of such values has a row for each of them.
func reportRows(b *strings.Builder, members map[string]any) map[string]any {
	rest, rows := maps.Clone(members), 0
	const head = "| Name | Value |\n|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text, n := asRows(name, members[name], maxRows-rows)
		if n == 0 || b.Len()+len(head)+len(text) > maxReport {
			continue
		}
		if rows == 0 {
			b.WriteString(head)
		}
		b.WriteString(text)
		rows += n
		delete(rest, name)
	}
	return rest
}

// asRows is a member as rows of a table, and how many: none where it does not fit
// most of them.
func asRows(name string, v any, most int) (text string, n int) {
	if most < 1 {
		return "", 0
	}
	if cell, ok := inRow(v); ok {
		return "| " + code(name) + " | " + cell + " |\n", 1
	}
	parts, _ := v.(map[string]any)
	if len(parts) > most {
		return "", 0
	}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		cell, ok := inRow(parts[part])
		if !ok {
			return "", 0
		}
		text += "| " + code(name) + " " + code(part) + " | " + cell + " |\n"
		n++
	}
	return text, n
}

// parse reads JSON, with numbers as they are written.
func parse(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err == nil && d.More() {
		err = fmt.Errorf("runner: more than one value")
	}
	return v, err
}

// inRow is a scalar or a small list of scalars, as a row of a table shows it.
func inRow(v any) (cell string, ok bool) {
	list, isList := v.([]any)
	if !isList {
		text, ok := scalar(v)
		if len(text) > maxCell {
			return "", false
		}
		return "`" + text + "`", ok
	}
	if len(list) == 0 || len(list) > maxList {
		return "", false
	}
	var cells []string
	for _, item := range list {
		text, ok := scalar(item)
		if !ok {
			return "", false
		}
		cells = append(cells, "`"+text+"`")
	}
	cell = strings.Join(cells, ", ")
	return cell, len(cell) <= maxCell
}

// block writes a value as indented JSON, as long as there is room.
type block struct {
	out  strings.Builder
	room int // bytes
	full bool
}

func (b *block) write(text string) {
	if b.full = b.full || b.out.Len()+len(text) > b.room; !b.full {
		b.out.WriteString(text)
	}
}

// value recurses once per level of depth, which the JSON's decoder bounds.
func (b *block) value(v any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		b.container("{", "}", len(names), depth, func(i int) {
			b.write(literal(names[i]) + ": ")
			b.value(v[names[i]], depth+1)
		})
	case []any:
		b.container("[", "]", len(v), depth, func(i int) { b.value(v[i], depth+1) })
	default:
		text, _ := scalar(v)
		b.write(text)
	}
}

func (b *block) container(opening, closing string, n, depth int, item func(i int)) {
	line := func(depth int) {
		if depth <= maxIndent {
			b.write("\n" + strings.Repeat("  ", depth))
		}
	}
	b.write(opening)
	for i := range n {
		if b.full {
			return
		}
		if i > 0 {
			b.write(",")
		}
		line(depth + 1)
		item(i)
	}
	if n > 0 {
		line(depth)
	}
	b.write(closing)
}
