package codegen

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/schema"
)

// lockFile is what a reviewer reads of a namespace: per capability its digest,
// what it may do, its words and, one line a field path, its effective schemas.
// Every line begins with the capability, so that a diff reads by itself:
//
//	files.list digest sha256:2c26…
//	files.list effect read
//	files.list signature "files.list(*, path: str, limit: int = 100)"
//	files.list input.limit integer default=100 minimum=1 maximum=1000
//	files.list input.path string required maxLength=4096
func (p *plan) lockFile(n *namespace) []byte {
	var b strings.Builder
	b.WriteString("# " + header + "\n")
	for _, c := range n.capabilities {
		l := lockWriter{b: &b, name: c.Name, told: map[*schema.NamedType]bool{}}
		b.WriteByte('\n')
		l.line("digest", "sha256:"+Digest(c.Capability))
		if p.builds.tagged {
			l.line("deployments", strings.Join(p.builds.names(c.held), " "))
		}
		l.line("effect", c.Effect)
		l.line("id", visible.Quote(c.ID))
		l.line("idempotency", c.Idempotency)
		l.line("scopes", scopesText(c.Scopes))
		l.line("world", c.World)
		l.rules(c.Capability)
		l.lifecycle(c.Capability)
		l.provenance(c.Capability)
		l.line("signature", visible.Quote(Signature(c.Capability)))
		l.text("summary", c.Summary)
		if c.Description != c.Summary {
			l.text("description", c.Description)
		}
		for _, phrase := range c.Search {
			l.text("search", phrase)
		}
		l.typ("input", nil, c.Input)
		l.typ("output", nil, c.Output)
		if c.IsShaped() {
			l.told = map[*schema.NamedType]bool{}
			l.typ("result", nil, c.Result())
		}
		if c.Step == schema.StepStart {
			l.told = map[*schema.NamedType]bool{}
			l.typ("result", nil, c.Of.Output)
		}
		for _, e := range c.Errors {
			l.line("error", e.Code, visible.Quote(e.Text))
		}
		l.examples(c.Capability)
	}
	return []byte(b.String())
}

func scopesText(scopes []string) string {
	if len(scopes) == 0 {
		return "none"
	}
	return strings.Join(quotedAlways(scopes), " ")
}

type lockWriter struct {
	b    *strings.Builder
	name string
	// told holds the types that may hold themselves and are written out
	// already: where another is, the path ends.
	told map[*schema.NamedType]bool
}

func (l lockWriter) line(words ...string) {
	l.b.WriteString(l.name)
	for _, w := range words {
		if w != "" {
			l.b.WriteString(" " + w)
		}
	}
	l.b.WriteByte('\n')
}

// text writes a text of the manifest, a quoted line for each of its lines.
func (l lockWriter) text(path, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		l.line(path, visible.Quote(line))
	}
}

// again tells whether a type that may hold itself was written out before.
func (l lockWriter) again(t *schema.Type) bool {
	if !isRecursive(t) {
		return false
	}
	before := l.told[t.Ref]
	l.told[t.Ref] = true
	return before
}

// typ writes the lines of the value at path; prop is nil for roots and items.
func (l lockWriter) typ(path string, prop *schema.Property, ref *schema.Type) {
	t, null := resolved(ref), ""
	inner := ref
	if t.Kind == schema.Nullable {
		inner, t, null = t.Items, resolved(t.Items), "|null"
	}
	words := []string{path, string(t.Kind) + null}
	if ref.Kind == schema.Ref {
		words = append(words, "type="+ref.Ref.Name)
	}
	if inner != ref && inner.Kind == schema.Ref {
		words = append(words, "type="+inner.Ref.Name)
	}
	ends := l.again(ref)
	if inner != ref {
		ends = l.again(inner) || ends
	}
	if prop != nil && prop.Required {
		words = append(words, "required")
	}
	if prop != nil && prop.Deprecated {
		words = append(words, "deprecated")
	}
	if prop != nil && prop.Default != "" {
		words = append(words, pick(prop.Fixed, "fixed=", "default=")+visible.Text(prop.Default))
	}
	if ends {
		l.line(append(words, "recursive")...)
		return
	}
	l.line(append(words, rules(t)...)...)
	if s := title(ref); s != "" {
		l.text(path+" title", s)
	}
	if d := describe(ref); d != "" {
		l.text(path+" description", d)
	}
	l.shown(path, resolved(ref))
	if inner != ref {
		l.shown(path, resolved(inner))
	}
	switch t.Kind {
	case schema.Array:
		l.typ(path+"[]", nil, t.Items)
	case schema.Map:
		l.typ(path+"{}", nil, t.Items)
	}
	for i, v := range t.Variants {
		name := schema.JSONType(resolved(v))
		if t.Tag != "" {
			name = visible.Quote(t.Tags[i])
		}
		l.typ(path+"<"+name+">", nil, v)
	}
	for _, p := range slices.SortedFunc(slices.Values(t.Properties), func(a, b *schema.Property) int { return cmp.Compare(a.Name, b.Name) }) {
		l.typ(path+"."+p.Name, p, p.Type)
	}
}

// rules are the bounds of t, those that lowering added included.
func rules(t *schema.Type) []string {
	var out []string
	add := func(name, value string) {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	switch t.Kind {
	case schema.String, schema.Bytes:
		add("minLength", positive(t.MinLength))
		add("maxLength", positive(t.MaxLength))
		add("pattern", quotedText(t.Pattern))
		add("format", t.Format)
		add("enum", strings.Join(quotedAlways(t.Enum), ","))
		if t.Open {
			add("open", "true")
		}
	case schema.Integer, schema.Int64:
		add("minimum", strconv.FormatInt(t.Minimum, 10))
		add("maximum", strconv.FormatInt(t.Maximum, 10))
	case schema.Number:
		add(pick(t.ExclusiveMin, "exclusiveMinimum", "minimum"), t.NumberMin)
		add(pick(t.ExclusiveMax, "exclusiveMaximum", "maximum"), t.NumberMax)
	case schema.Union:
		add("tag", t.Tag)
	case schema.Map:
		add("minProperties", positive(t.MinItems))
		add("maxProperties", strconv.Itoa(t.MaxItems))
		add("keys.minLength", positive(t.Keys.MinLength))
		add("keys.maxLength", positive(t.Keys.MaxLength))
		add("keys.pattern", quotedText(t.Keys.Pattern))
	case schema.Array:
		add("minItems", positive(t.MinItems))
		add("maxItems", strconv.Itoa(t.MaxItems))
		if t.Unique {
			add("uniqueItems", "true")
		}
	}
	add("const", t.Const)
	add("multipleOf", t.MultipleOf)
	return out
}

func positive(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func quotedText(s string) string {
	if s == "" {
		return ""
	}
	return visible.Quote(s)
}

// quotedAlways quotes with double quotes only, as lock files do.
func quotedAlways(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = visible.Quote(v)
	}
	return out
}

// Digest is the hexadecimal SHA-256 over the canonical JSON of what a capability promises and
// says. Its position in a file and the code made of it are no part of that.
func Digest(c *schema.Capability) string {
	text, err := canon.CanonicalizeJSON(nil, []byte(jsonText(struct {
		ID          string          `json:"id"`
		Name        string          `json:"name"`
		Summary     string          `json:"summary"`
		Description string          `json:"description"`
		Search      []string        `json:"search"`
		Effect      string          `json:"effect"`
		Idempotency string          `json:"idempotency"`
		World       string          `json:"world"`
		Scopes      []string        `json:"scopes"`
		Input       json.RawMessage `json:"input"`
		Output      json.RawMessage `json:"output"`
		Was         []string        `json:"was,omitempty"`
		Tags        []string        `json:"tags,omitempty"`
		Deprecated  string          `json:"deprecated,omitempty"`
		Source      string          `json:"source,omitempty"`
		Errors      []ErrorForm     `json:"errors,omitempty"`
		Rules       []Rule          `json:"rules,omitempty"`
		Examples    []string        `json:"examples,omitempty"`
	}{
		c.ID, c.Name, c.Summary, c.Description, nonNil(c.Search), c.Effect, c.Idempotency, c.World, nonNil(c.Scopes),
		InlineSchema(c.Input), InlineSchema(c.Output), c.Was, c.Tags, digestedDeprecation(c.Deprecated), digestSource(c.Source), ErrorForms(c), Rules(c), digestedExamples(c),
	})), 8*maxNesting)
	if err != nil {
		// Only a text that is not UTF-8 or a number that is not JSON gets
		// here, and checkModel has refused both.
		panic("codegen: digest of " + c.Name + ": " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ErrorForm is a declared error as JSON has it.
type ErrorForm struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

// ErrorForms are the errors that c declares, sorted by code; nil for none.
func ErrorForms(c *schema.Capability) []ErrorForm {
	var out []ErrorForm
	for _, e := range c.Errors {
		out = append(out, ErrorForm{e.Code, e.Text})
	}
	return out
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
