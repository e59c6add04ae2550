package search

import "strings"

// Texts are what a manifest says of one capability.
type Texts struct {
	// Name is the dotted name. Its last segment is a field of its own.
	Name, Summary, Description string
	// Phrases are search phrases of the manifest: words that users say and
	// the other texts do not hold.
	Phrases    []string
	Parameters []Parameter
}

// Parameter is one input of a capability.
type Parameter struct{ Name, Description string }

// Entry is what the ranking knows of one capability: the terms of each field
// as text. Terms stand in their order with a space between them, each a stem,
// or stem/word where the two differ. A comma ends what belongs together.
// Generated code holds entries; [Analyze] makes them. Any text is an entry: one
// that Analyze did not make finds less, and breaks nothing.
type Entry struct {
	Name, Namespace, Phrases, Summary, Description string
	ParameterNames, ParameterDescriptions          string
}

// field tells the parts of an entry apart.
type field uint8

const (
	fieldName field = iota
	fieldNamespace
	fieldPhrases
	fieldSummary
	fieldDescription
	fieldParameterNames
	fieldParameterDescriptions
	fields
)

func (e *Entry) texts() [fields]string {
	return [fields]string{e.Name, e.Namespace, e.Phrases, e.Summary, e.Description, e.ParameterNames, e.ParameterDescriptions}
}

// Analyze makes the entry of a capability. It is a pure function, the same in
// the generator and in a test; its time is linear in the texts.
func Analyze(t Texts) Entry {
	dot := strings.LastIndexByte(t.Name, '.')
	e := Entry{
		Name:      analyze(t.Name[dot+1:]),
		Namespace: analyze(t.Name[:max(dot, 0)]),
		Phrases:   analyze(t.Phrases...),
		Summary:   analyze(t.Summary),
	}
	if t.Description != t.Summary { // a manifest without one repeats the summary
		e.Description = analyze(t.Description)
	}
	names, descriptions := make([]string, len(t.Parameters)), make([]string, len(t.Parameters))
	for i, p := range t.Parameters {
		names[i], descriptions[i] = p.Name, p.Description
	}
	e.ParameterNames, e.ParameterDescriptions = analyze(names...), analyze(descriptions...)
	return e
}

// analyze writes texts as one field.
func analyze(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		for i, t := range terms(text) {
			if b.Len() > 0 {
				if i == 0 || t.first {
					b.WriteByte(',')
				}
				b.WriteByte(' ')
			}
			b.WriteString(t.stem)
			if t.word != t.stem {
				b.WriteString("/" + t.word)
			}
		}
	}
	return b.String()
}

// parse reads one field back. What yield gets shares text's memory.
func parse(text string, yield func(token string, first bool)) {
	first := true
	for token := range strings.SplitSeq(text, " ") {
		bare := strings.TrimSuffix(token, ",")
		if bare != "" {
			yield(bare, first)
		}
		first = len(bare) != len(token)
	}
}
