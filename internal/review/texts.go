package review

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
	"github.com/capgen/capgen/schema/breaking"
)

// modelText is one text that a model reads, or that decides what it is shown.
type modelText struct{ pointer, text string }

// owner is what texts belong to, on one side or both.
type owner struct {
	title      string
	base, head []modelText
}

// owners are all that has texts, in the order of the summary: the server, the
// capabilities, the named types.
func (r *Review) owners() []owner {
	out := []owner{{title: "the server", base: serverTexts(r.Input.Base), head: serverTexts(r.Input.Head)}}
	var capabilities []owner
	for _, p := range r.Pairs {
		title := span(p.Head.Name)
		if p.Base.Name != p.Head.Name {
			title += ", which was " + span(p.Base.Name)
		}
		capabilities = append(capabilities, owner{title, capabilityTexts(p.Base), capabilityTexts(p.Head)})
	}
	for _, c := range r.Added {
		capabilities = append(capabilities, owner{title: span(c.Name) + ", new", head: capabilityTexts(c)})
	}
	for _, c := range r.Removed {
		capabilities = append(capabilities, owner{title: span(c.Name) + ", gone", base: capabilityTexts(c)})
	}
	slices.SortStableFunc(capabilities, func(a, b owner) int { return strings.Compare(a.title, b.title) })
	return append(append(out, capabilities...), r.typeOwners()...)
}

func (r *Review) typeOwners() []owner {
	byName := map[string]*owner{}
	var names []string
	get := func(name string) *owner {
		if byName[name] == nil {
			byName[name] = &owner{title: "type " + span(name)}
			names = append(names, name)
		}
		return byName[name]
	}
	for _, t := range r.Input.Base.Types {
		get(t.Name).base = typeTexts("", t.Type, nil)
	}
	for _, t := range r.Input.Head.Types {
		get(t.Name).head = typeTexts("", t.Type, nil)
	}
	slices.Sort(names)
	out := make([]owner, len(names))
	for i, name := range names {
		out[i] = *byName[name]
	}
	return out
}

func serverTexts(m *schema.Manifest) []modelText {
	return []modelText{{"/server/title", m.Server.Title}, {"/server/instructions", m.Server.Instructions}}
}

func capabilityTexts(c *schema.Capability) []modelText {
	out := []modelText{{"signature", codegen.Signature(c)}, {"/summary", c.Summary}}
	if c.Description != c.Summary {
		out = append(out, modelText{"/description", c.Description})
	}
	for _, phrase := range c.Search {
		out = append(out, modelText{"/search/" + phrase, phrase})
	}
	for _, e := range c.Errors {
		out = append(out, modelText{"/errors/" + e.Code, e.Text})
	}
	for _, e := range c.Examples {
		out = append(out, modelText{"/examples/" + e.Title, e.Title + ": " + breaking.ExampleText(e)})
	}
	return typeTexts("/output", c.Output, typeTexts("/input", c.Input, out))
}

// typeTexts adds what a schema says in words: names of members, titles,
// descriptions, examples and the words of enums. Named types say theirs once.
func typeTexts(pointer string, t *schema.Type, out []modelText) []modelText {
	say := func(keyword, text string) {
		if text != "" {
			out = append(out, modelText{pointer + "/" + keyword, text})
		}
	}
	say("title", t.Title)
	say("description", t.Description)
	say("examples", strings.Join(t.Examples, ", "))
	say("enum", breaking.EnumText(t.Enum))
	var names []string
	for _, p := range t.Properties {
		names = append(names, p.Name)
	}
	say("properties", strings.Join(names, ", "))
	for _, p := range t.Properties {
		out = typeTexts(pointer+"/properties/"+p.Name, p.Type, out)
	}
	for i, v := range t.Variants {
		name := schema.JSONType(schema.Resolve(v))
		if t.Tag != "" {
			name = t.Tags[i]
		}
		out = typeTexts(pointer+"/oneOf/"+name, v, out)
	}
	switch {
	case t.Items == nil:
	case t.Kind == schema.Map:
		out = typeTexts(pointer+"/additionalProperties", t.Items, out)
	case t.Kind == schema.Nullable:
		out = typeTexts(pointer, t.Items, out)
	default:
		out = typeTexts(pointer+"/items", t.Items, out)
	}
	return out
}

// textChange is a text that differs; one side is empty where it is not there.
type textChange struct{ pointer, before, after string }

// changes are the texts of an owner that differ: those of the head in their
// order, then those that are gone.
func (o *owner) changes() []textChange {
	before := map[string]string{}
	for _, t := range o.base {
		before[t.pointer] = t.text
	}
	var out []textChange
	seen := map[string]bool{}
	for _, t := range o.head {
		seen[t.pointer] = true
		if before[t.pointer] != t.text {
			out = append(out, textChange{t.pointer, before[t.pointer], t.text})
		}
	}
	for _, t := range o.base {
		if !seen[t.pointer] && t.text != "" {
			out = append(out, textChange{t.pointer, t.text, ""})
		}
	}
	return out
}
