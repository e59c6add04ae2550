package schema

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/canon"
)

const (
	maxPrograms = 256
	// maxSource is the runtime's MaxSourceBytes by default.
	maxSource = 64 << 10
	// maxResult bounds canonical JSON, in bytes.
	maxResult = 64 << 10
)

// programs reads the whole programs of all files, sorted by title.
func (l *loader) programs(files []*node) []*Program {
	var all []*Program
	titles := map[string]Position{}
	for _, file := range files {
		v := file.get("programs")
		if v == nil || !l.kind(v, listNode, "programs") {
			continue
		}
		if len(v.items) == 0 {
			l.errorf(v.pos, ruleMissingField, "programs is empty").
				hint("programs: [{title: …, source: …, result: …}], or leave programs out")
		}
		for _, item := range v.items {
			if len(all) == maxPrograms {
				l.errorf(item.pos, ruleLimit, "more than %d programs", maxPrograms).hint("keep those that show something new")
				return nil
			}
			if p := l.program(item, titles); p != nil {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Program) int { return strings.Compare(a.Title, b.Title) })
	return all
}

func (l *loader) program(n *node, titles map[string]Position) *Program {
	if !l.mapping(n, &l.words.program, "a program") {
		return nil
	}
	p := &Program{Pos: n.pos}
	if v := l.need(n, "title", "a program", "one line that says what it shows"); v != nil {
		p.Title = l.uniqueTitle(v, "program", titles)
	}
	if v := l.need(n, "source", "a program", "source is the program, with a main function"); v != nil {
		p.Source = l.programSource(v)
	}
	if v := l.need(n, "result", "a program", "result is what it returns, as JSON has it"); v != nil {
		p.Result = l.programResult(v)
	}
	return p
}

// programSource reads a program as it is, white space included: a text would be
// trimmed, and its line numbers others.
func (l *loader) programSource(n *node) string {
	s, ok := l.str(n, "source")
	if !ok || !l.visible(n.pos, s, "source") {
		return ""
	}
	switch {
	case strings.TrimSpace(s) == "":
		l.errorf(n.pos, ruleBadText, "source is empty").hint("write the program: def main(): …")
	case len(s) > maxSource:
		l.errorf(n.pos, ruleTooLarge, "source has %d bytes, the limit is %d", len(s), maxSource).hint("show less")
	case strings.ContainsFunc(s, func(r rune) bool { return isControl(r) && r != '\n' && r != '\t' }):
		l.errorf(n.pos, ruleBadText, "source holds a control character").hint("remove it")
	default:
		return s
	}
	return ""
}

// programResult reads any value that a program can return.
func (l *loader) programResult(n *node) string {
	if n.kind == invalidNode || !l.visibleValue(n, "result") || !l.holdNumbers(n, ruleBadExample, "result") {
		return ""
	}
	w := canon.NewCanonicalWriter(nil)
	w.Limit(l.limits.valueDepth, maxResult)
	writeOpaque(w, n)
	if err := w.Err(); err != nil {
		l.errorf(n.pos, ruleBadExample, "result: %s", plain(err.Error(), maxPlain)).
			hint("at most %d bytes; an integer beyond ±(2^53−1) is written as a string of digits, as results are", maxResult)
		return ""
	}
	return string(w.Bytes())
}
