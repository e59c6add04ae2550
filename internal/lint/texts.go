package lint

import (
	"fmt"
	"strings"

	"github.com/capgen/capgen/schema"
)

// kind of a text.
type kind uint8

const (
	// prose is what a model reads about a capability.
	prose kind = iota
	// value is data: a default, an enum's value, an example.
	value
	// code is a program.
	code
)

// text is one text of a manifest.
type text struct {
	kind kind
	// target is what it belongs to, as in Finding.
	target string
	// what it is, for messages.
	what string
	s    string
	at   schema.Position
	// sets tells that a value reaches a handler, and is no mere example.
	sets bool
}

// texts yields every text of the manifest that a model or a handler may see.
func (l *linter) texts(yield func(text) bool) {
	w := &textWalk{yield: yield}
	w.prose(targetServer, "the server's title", l.Server.Title, l.Server.TitleAt)
	w.prose(targetServer, "the server's instructions", l.Server.Instructions, l.Server.InstructionsAt)
	for _, t := range l.Types {
		w.schema(typePrefix+t.Name, "type "+t.Name, t.Type)
	}
	for _, c := range l.Capabilities {
		w.capability(c)
	}
	for _, p := range l.Programs {
		w.prose(targetPrograms, "the title of a program", p.Title, p.Pos)
		w.add(text{kind: code, target: targetPrograms, what: "program " + quote(p.Title), s: p.Source, at: p.Pos})
		w.add(text{kind: value, target: targetPrograms, what: "the result of program " + quote(p.Title), s: p.Result, at: p.Pos})
	}
}

// textWalk passes texts on until yield has had enough.
type textWalk struct {
	yield func(text) bool
	done  bool
}

func (w *textWalk) add(t text) {
	if t.s != "" && !w.done {
		w.done = !w.yield(t)
	}
}

func (w *textWalk) prose(target, what, s string, at schema.Position) {
	w.add(text{kind: prose, target: target, what: what, s: s, at: at})
}

func (w *textWalk) value(target, what, s string, at schema.Position, sets bool) {
	w.add(text{kind: value, target: target, what: what, s: s, at: at, sets: sets})
}

func (w *textWalk) capability(c *schema.Capability) {
	// A summary that an importer cut from the description would be told twice.
	if c.Source == nil || !strings.HasPrefix(c.Description, strings.TrimSuffix(c.Summary, "…")) || c.Description == c.Summary {
		w.prose(c.Name, "the summary of "+c.Name, c.Summary, place(c, "summary"))
	}
	if _, written := c.At["description"]; written || c.Description != c.Summary {
		w.prose(c.Name, "the description of "+c.Name, c.Description, place(c, "description"))
	}
	for _, phrase := range c.Search {
		w.prose(c.Name, "a search phrase of "+c.Name, phrase, place(c, "search"))
	}
	for _, e := range c.Errors {
		w.prose(c.Name, "error "+e.Code+" of "+c.Name, e.Text, e.Pos)
	}
	if c.Source != nil {
		w.prose(c.Name, "the title of "+c.Name, c.Source.Title, place(c, "source"))
	}
	for _, e := range c.Examples {
		w.prose(c.Name, "the title of an example of "+c.Name, e.Title, e.Pos)
		w.value(c.Name, "an example of "+c.Name, e.Input, e.Pos, false)
		w.value(c.Name, "an example of "+c.Name, e.Output, e.Pos, false)
	}
	w.schema(c.Name, "the input of "+c.Name, c.Input)
	w.schema(c.Name, "the output of "+c.Name, c.Output)
}

// schema walks what stands inline in a type; named types have walks of their
// own.
func (w *textWalk) schema(target, what string, t *schema.Type) {
	if t == nil || w.done {
		return
	}
	at := t.DescriptionAt
	if at.Line == 0 {
		at = t.Pos
	}
	w.prose(target, "the description of "+what, t.Description, at)
	w.prose(target, "the title of "+what, t.Title, t.Pos)
	for _, e := range t.Examples {
		w.value(target, "an example of "+what, e, t.Pos, false)
	}
	for i, e := range t.Enum {
		at := t.Pos
		if i < len(t.EnumAt) {
			at = t.EnumAt[i]
		}
		w.value(target, "a value of "+what, e, at, false)
	}
	w.value(target, "the pattern of "+what, t.Pattern, t.Pos, false)
	for _, p := range t.Properties {
		name := fmt.Sprintf("%q of %s", p.Name, what)
		if p.Fixed {
			w.value(target, "what fixed sets of "+name, p.Default, p.Pos, true)
		} else {
			w.value(target, "the default of "+name, p.Default, p.Pos, true)
		}
		w.schema(target, name, p.Type)
	}
	for _, v := range t.Variants {
		w.schema(target, "a variant of "+what, v)
	}
	w.schema(target, "a key of "+what, t.Keys)
	if t.Kind == schema.Nullable {
		w.schema(target, what, t.Items)
	} else {
		w.schema(target, "an item of "+what, t.Items)
	}
}
