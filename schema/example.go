package schema

import (
	"errors"

	"github.com/capgen/capgen/runtime/canon"
)

const (
	// maxExamples of one capability.
	maxExamples = 32
	// maxExampleInput and maxExampleOutput bound the canonical JSON, in bytes:
	// a call is also written as a program, which grows with escapes, and a
	// program has at most 64 KiB.
	maxExampleInput  = 16 << 10
	maxExampleOutput = 64 << 10
)

// valueUse is what a value in the manifest stands for.
type valueUse string

const (
	useDefault valueUse = "default"
	useExample valueUse = "example"
	useFixed   valueUse = "fixed value"
)

// rule is the one that a wrong value breaks.
func (u valueUse) rule() string {
	switch u {
	case useExample:
		return ruleBadExample
	case useFixed:
		return ruleBadFixed
	}
	return ruleBadDefault
}

// writtenExample is an example as the manifest has it.
type writtenExample struct {
	capability    *Capability
	example       *Example
	input, output *node // output is nil when the call fails
}

// declaredExamples reads the examples of c, which are checked when all types
// are known.
func (l *loader) declaredExamples(n *node, c *Capability) {
	if !l.kind(n, listNode, "examples") {
		return
	}
	if len(n.items) == 0 {
		l.errorf(n.pos, ruleMissingField, "examples is empty").
			hint("examples: [{title: …, input: {…}, output: …}], or leave examples out")
	}
	if len(n.items) > maxExamples {
		l.errorf(n.items[maxExamples].pos, ruleLimit, "%d examples, the limit is %d", len(n.items), maxExamples).
			hint("keep those that show something new")
		return
	}
	titles := map[string]Position{}
	for _, item := range n.items {
		l.declaredExample(item, c, titles)
	}
}

func (l *loader) declaredExample(n *node, c *Capability, titles map[string]Position) {
	if !l.mapping(n, &l.words.example, "an example") {
		return
	}
	w := writtenExample{capability: c, example: &Example{Pos: n.pos}, output: n.get("output")}
	if v := l.need(n, "title", "an example", "one line that says what it shows"); v != nil {
		w.example.Title = l.uniqueTitle(v, "example", titles)
	}
	w.input = l.need(n, "input", "an example", "input: {} for a call without arguments")
	switch code := n.get("error"); {
	case w.output == nil && code == nil:
		l.errorf(n.pos, ruleMissingField, "an example needs %s or %s", quote("output"), quote("error")).
			hint("output is what the call returns, error the code of the declared error that it fails with")
		return
	case w.output != nil && code != nil:
		l.errorf(code.pos, ruleWrongKeyword, "an example has an output or an error, not both").hint("remove one of the two")
		return
	case code != nil:
		w.example.Error = l.declaredCode(code, c)
	}
	if w.input != nil {
		l.examples = append(l.examples, w)
		c.Examples = append(c.Examples, w.example)
	}
}

// uniqueTitle reads the title of an example or a program.
func (l *loader) uniqueTitle(n *node, what string, titles map[string]Position) string {
	title, ok := l.line(n, "the title of "+map[string]string{"example": "an example", "program": "a program"}[what], maxTitle)
	if !ok {
		return ""
	}
	if first, twice := titles[title]; twice {
		l.errorf(n.pos, ruleBadExample, "two have the title %s, the first at %s", quote(title), first).
			hint("say what is different about this %s", what).related(first)
	} else {
		titles[title] = n.pos
	}
	return title
}

// declaredCode reads the code of an error, which has to be one that c
// declares.
func (l *loader) declaredCode(n *node, c *Capability) string {
	code, ok := l.str(n, "error")
	if !ok {
		return ""
	}
	var codes []string
	for _, e := range c.Errors {
		if e.Code == code {
			return code
		}
		codes = append(codes, e.Code)
	}
	f := l.errorf(n.pos, ruleBadExample, "the capability declares no error %s", quote(code)).
		hint("errors: {%s: …} declares it", plain(code, maxQuoted))
	l.nearest(f, code, codes)
	return ""
}

// checkExamples checks every example against its capability's schemas and
// stores it in canonical form. It returns false if there is none to store.
func (l *loader) checkExamples() bool {
	l.use = useExample
	for _, w := range l.examples {
		l.checkValue(w.capability.Parameters(), w.input, "input")
		if w.output != nil {
			l.checkValue(w.capability.Output, w.output, "output")
		}
	}
	if l.failed {
		// Writing relies on every value, and default inside it, being right.
		return true
	}
	type call struct {
		capability *Capability
		input      string
	}
	inputs := make(map[call]Position, len(l.examples))
	total := 0
	for _, w := range l.examples {
		var fine, good bool
		w.example.Input, fine = l.canonicalExample(w.capability.Input, w.input, "input", maxExampleInput)
		if good = true; w.output != nil {
			w.example.Output, good = l.canonicalExample(w.capability.Output, w.output, "output", maxExampleOutput)
		}
		if !fine || !good {
			return false
		}
		key := call{w.capability, w.example.Input}
		if first, twice := inputs[key]; twice {
			l.errorf(w.input.pos, ruleBadExample, "two examples have the same input once defaults are filled in, the first at %s", first).
				hint("one call has one outcome: remove one of the two").related(first)
		}
		inputs[key] = w.input.pos
		if total += len(w.example.Input) + len(w.example.Output); total > l.limits.textBytes {
			l.errorf(w.example.Pos, ruleTooLarge, "the examples have more than %d bytes together", l.limits.textBytes).hint("make them smaller")
			return false
		}
	}
	return true
}

// canonicalExample is the canonical JSON of a checked value.
func (l *loader) canonicalExample(t *Type, n *node, what string, most int) (text string, ok bool) {
	w := canon.NewCanonicalWriter(nil)
	w.Limit(l.limits.valueDepth, most)
	l.writeValue(w, t, n)
	var refused *canon.Error
	switch err := w.Err(); {
	case errors.As(err, &refused) && refused.Code == canon.CodeSize:
		l.errorf(n.pos, ruleTooLarge, "the %s of an example has more than %d bytes", what, most).hint("show less")
		return "", false
	case err != nil:
		// Types that hold themselves nest as deep as the file does, which is
		// deeper than a value can be.
		l.errorf(n.pos, ruleBadExample, "%s: %s", what, plain(err.Error(), maxPlain)).hint("change the example")
		return "", false
	}
	return string(w.Bytes()), true
}

// checkUnion reports where n is none of the variants of t.
func (l *loader) checkUnion(t *Type, n *node, what string) bool {
	if v := variantOf(t, n); v != nil {
		return l.checkValue(v, n, what)
	}
	if t.Tag == "" || n.kind != mappingNode {
		l.errorf(n.pos, l.use.rule(), "%s: no variant of the union is %s", what, n.kind).hint("change the %s or the schema", l.use)
		return false
	}
	at, tag := n, n.get(t.Tag)
	if tag != nil {
		at = tag
	}
	f := l.errorf(at.pos, l.use.rule(), "%s: %s tells the variants apart, and is none of theirs", what, quote(t.Tag)).
		hint("it is a constant of its own in each variant")
	if tag != nil {
		l.nearest(f, tag.text, t.Tags)
	}
	return false
}

// variantOf is the variant of t that n has to be; nil if there is none.
func variantOf(t *Type, n *node) *Type {
	for i, v := range t.Variants {
		if t.Tag != "" {
			if tag := n.get(t.Tag); tag != nil && tag.kind == stringNode && tag.text == t.Tags[i] {
				return v
			}
		} else if JSONType(Resolve(v)) == jsonTypeOf(n) {
			return v
		}
	}
	return nil
}

// jsonTypeOf is the JSON type of a value as JSONType names it; null has none.
func jsonTypeOf(n *node) string {
	switch n.kind {
	case boolNode:
		return string(Boolean)
	case numberNode:
		return string(Number)
	case stringNode:
		return string(String)
	case listNode:
		return string(Array)
	case mappingNode:
		return string(Object)
	}
	return "null"
}

// writeUnion writes a checked value as the variant that it is.
func (l *loader) writeUnion(w *canon.Writer, t *Type, n *node) {
	if v := variantOf(t, n); v != nil {
		l.writeValue(w, v, n)
	}
}
