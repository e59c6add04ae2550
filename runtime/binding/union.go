package binding

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/canon"
)

// union adds the members that come last, which are those of a union but for
// one of an array.
func (o *objectEncoder) union(s *Shape) {
	if len(s.Tags) > 0 {
		o.add("tags", func(w *canon.Writer) {
			w.BeginArray(len(s.Tags), 2, MaxVariants)
			for i, tag := range s.Tags {
				w.Element(i).String(tag, 0, maxText)
			}
			w.EndArray()
		})
	}
	o.truth("unique", s.Unique)
	if len(s.Variants) > 0 {
		o.add("variants", func(w *canon.Writer) {
			w.BeginArray(len(s.Variants), 2, MaxVariants)
			for i := range s.Variants {
				encodeShape(w.Element(i), &s.Variants[i], nil)
			}
			w.EndArray()
		})
	}
}

// alternatives are the annotations of a union's variants, each once.
func (s *Shape) alternatives() string {
	var words []string
	for i := range s.Variants {
		if word := s.Variants[i].Annotation(); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " | ")
}
