package codegen

import (
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/schema"
)

// builder gathers the declarations of one file.
type builder struct {
	*planner
	scope *scope // of the package
	pkg   string // import path of the package
	decls []*decl
	// current is the root declaration at work.
	current string
}

// rootOrReference plans an input or an output: one that is a reference is the
// named type itself, any other is declared.
func (b *builder) rootOrReference(name, what string, t *schema.Type) *goType {
	if t.Kind != schema.Ref {
		b.scope.claim(name, what, t.Pos)
		b.root(name, what, t)
	}
	return b.typ(b.pkg, name, t, true)
}

// root declares a type that has a name of its own, whatever its kind.
func (b *builder) root(name, what string, t *schema.Type) {
	b.current = name
	d := &decl{name: name, lead: name + " is " + what + ".", text: t.Description, root: true}
	b.decls = append(b.decls, d)
	switch t.Kind {
	case schema.Object:
		b.object(d, t)
		return
	case schema.Union:
		b.union(d, t)
		return
	}
	d.under = b.under(name, t)
	d.consts, d.open = b.constants(name, t), t.Open
	b.nested(d, name, t)
}

// under is what the root declaration called name is defined as.
func (b *builder) under(name string, t *schema.Type) *goType {
	g := b.typ(b.pkg, name, t, false)
	if g.form == scalar && len(t.Enum) > 0 {
		g.name, g.pkg = "", "" // an enum that is a root is not a type beside it
	}
	return g
}

// object plans the fields of d and declares what is nested in them.
func (b *builder) object(d *decl, t *schema.Type) {
	d.object = true
	members := newScope("type "+d.name, &b.diags)
	members.reserve("a generated method", "Decode", "Encode", "AppendCanonical")
	for _, p := range t.Properties {
		name := goName(p.Name)
		members.claim(name, "property "+p.Name, p.Pos)
		f := &field{name: name, member: p.Name, text: describe(p.Type), required: p.Required, deprecated: p.Deprecated}
		f.typ = b.member(b.pkg, d.name+name, p.Type)
		if p.Fixed {
			f.fixed = "The manifest sets it to " + p.Default + "."
		}
		if p.Default != "" {
			f.def = b.defaultOf(d.name+name, p)
		}
		d.fields = append(d.fields, f)
		b.declare(d, d.name+name, p.Type, "")
	}
}

// declare declares the type at a place called name, if it needs a declaration.
func (b *builder) declare(parent *decl, name string, t *schema.Type, text string) {
	enum := t.Kind == schema.String && len(t.Enum) > 0
	if t.Kind != schema.Object && t.Kind != schema.Union && !enum {
		b.nested(parent, name, t)
		return
	}
	b.scope.claim(name, "the type within "+b.current, t.Pos)
	d := &decl{name: name, lead: name + " is part of " + b.current + ".", text: text}
	b.decls = append(b.decls, d)
	if enum {
		d.under = &goType{form: scalar, basic: "string"}
		d.consts, d.open = b.constants(name, t), t.Open
		return
	}
	if t.Kind == schema.Union {
		b.union(d, t)
		return
	}
	b.object(d, t)
}

// nested declares what is inside a type that is written in place: the items of
// an array, and patterns, which belong to the declaration around them.
func (b *builder) nested(parent *decl, name string, t *schema.Type) {
	switch t.Kind {
	case schema.Array:
		b.declare(parent, name+"Item", t.Items, t.Items.Description)
		return
	case schema.Map:
		if g := b.typ(b.pkg, name, t, false); g.pattern.name != "" {
			b.scope.claim(g.pattern.name, "the pattern of the keys of "+name, t.Pos)
			parent.patterns = append(parent.patterns, g.pattern)
		}
		b.declare(parent, name+"Value", t.Items, t.Items.Description)
		return
	case schema.Nullable:
		b.declare(parent, name+"Value", t.Items, describe(t))
		return
	}
	if g := b.typ(b.pkg, name, t, false); g.pattern.name != "" {
		b.scope.claim(g.pattern.name, "the pattern of "+name, t.Pos)
		parent.patterns = append(parent.patterns, g.pattern)
	}
}

// typ is the Go type of t at a place called name in package pkg. root tells
// that the place is a declaration of that name.
func (p *planner) typ(pkg, name string, t *schema.Type, root bool) *goType {
	switch {
	case t.Kind == schema.Ref:
		return &goType{form: named, name: p.typeNames[t.Ref], pkg: p.typesPath()}
	case t.Kind == schema.Opaque && !root:
		return &goType{form: named, name: "Opaque", pkg: canonPath}
	case t.Kind == schema.FreeObject && !root:
		return &goType{form: named, name: "FreeObject", pkg: canonPath}
	case t.Kind == schema.Object || t.Kind == schema.Union || root:
		return &goType{form: named, name: name, pkg: pkg}
	case t.Kind == schema.Array:
		return &goType{form: array, unique: t.Unique, args: ints(t.MinItems, t.MaxItems), items: p.typ(pkg, name+"Item", t.Items, false)}
	case t.Kind == schema.Map:
		return p.mapType(pkg, name, t)
	case t.Kind == schema.Nullable:
		return &goType{form: nullable, items: p.typ(pkg, name+"Value", t.Items, false)}
	case t.Kind == schema.Boolean:
		g := &goType{basic: "bool", op: "Bool"}
		if t.Const != "" {
			g.checks = []check{{method: "Is", arg: t.Const}}
		}
		return g
	case t.Kind == schema.Integer:
		return &goType{
			basic: "int64", op: "Int", checks: p.multiple(t),
			args: []string{strconv.FormatInt(t.Minimum, 10), strconv.FormatInt(t.Maximum, 10)},
		}
	case t.Kind == schema.Bytes:
		return &goType{basic: "[]byte", op: "Base64", args: ints(t.MinLength, t.MaxLength)}
	case t.Kind == schema.Int64:
		return &goType{
			basic: "int64", op: "Int64", checks: p.multiple(t),
			args: []string{strconv.FormatInt(t.Minimum, 10), strconv.FormatInt(t.Maximum, 10)},
		}
	case t.Kind == schema.Number:
		return &goType{basic: "float64", op: "Float", checks: p.numberChecks(t)}
	case t.Open:
		return &goType{basic: "string", name: name, pkg: pkg, op: "String", args: ints(t.MinLength, t.MaxLength)}
	case len(t.Enum) > 0:
		return &goType{basic: "string", name: name, pkg: pkg, op: "Enum", args: quoted(p.allowed(t))}
	}
	g := &goType{basic: "string", op: "String", args: ints(t.MinLength, t.MaxLength)}
	if t.Pattern != "" {
		g.pattern = pattern{name: unexported(name) + "Pattern", expr: t.Pattern}
		g.checks = []check{{method: "Match", arg: "&" + g.pattern.name}}
	}
	if t.Format != "" {
		g.checks = append(g.checks, check{method: "Format", arg: strconv.Quote(t.Format)})
		if n := formatType(t.Format); n != "" {
			g.name, g.pkg = n, canonPath
		}
	}
	return g
}

// formatType is the type of canon for strings of a format, empty for those
// that are plain strings.
func formatType(format string) string {
	switch canon.Format(format) {
	case canon.FormatDateTime:
		return "DateTime"
	case canon.FormatDate:
		return "Date"
	case canon.FormatTime:
		return "Time"
	case canon.FormatDuration:
		return "Duration"
	case canon.FormatUUID:
		return "UUID"
	}
	return ""
}

func (p *planner) mapType(pkg, name string, t *schema.Type) *goType {
	g := &goType{
		form: mapping, args: ints(t.MinItems, t.MaxItems), items: p.typ(pkg, name+"Value", t.Items, false),
		keyArgs: ints(t.Keys.MinLength, t.Keys.MaxLength),
	}
	if t.Keys.Pattern != "" {
		g.pattern = pattern{name: unexported(name) + "KeyPattern", expr: t.Keys.Pattern}
		g.keyChecks = []check{{method: "MatchKey", arg: "&" + g.pattern.name}}
	}
	return g
}

func (p *planner) numberChecks(t *schema.Type) []check {
	var out []check
	if t.NumberMin != "" {
		out = append(out, check{method: pick(t.ExclusiveMin, "Above", "AtLeast"), arg: p.float(t, t.NumberMin)})
	}
	if t.NumberMax != "" {
		out = append(out, check{method: pick(t.ExclusiveMax, "Below", "AtMost"), arg: p.float(t, t.NumberMax)})
	}
	return append(out, p.multiple(t)...)
}

func (p *planner) multiple(t *schema.Type) []check {
	if t.MultipleOf == "" {
		return nil
	}
	arg := p.float(t, t.MultipleOf)
	if t.Kind == schema.Number {
		return []check{{method: "MultipleOf", arg: arg}}
	}
	if _, err := strconv.ParseInt(arg, 10, 64); err == nil {
		return []check{{method: "IntMultipleOf", arg: arg}}
	}
	return []check{{method: "MultipleOf", arg: arg, float: true}} // a fraction
}

// float is a decimal text as a Go literal.
func (p *planner) float(t *schema.Type, text string) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f-f != 0 {
		p.fail(t.Pos, "number-bound", "", "%s is not a number within the range of a double", strconv.Quote(text))
		return "0"
	}
	if f == float64(int64(f)) && f > -1<<53 && f < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// allowed is the enum without values that the type's other rules refuse.
func (p *planner) allowed(t *schema.Type) []string {
	match := func(string) bool { return true }
	if t.Pattern != "" {
		re, err := regexp.Compile(t.Pattern)
		if err != nil {
			p.fail(t.Pos, "pattern", "", "pattern %s is not an RE2 expression", strconv.Quote(t.Pattern))
			return nil
		}
		match = re.MatchString
	}
	out := slices.DeleteFunc(slices.Clone(t.Enum), func(s string) bool {
		n := utf8.RuneCountInString(s)
		return n < t.MinLength || t.MaxLength > 0 && n > t.MaxLength || !match(s)
	})
	if len(out) == 0 {
		p.fail(t.Pos, "enum-empty", "", "no value of the enum satisfies the type's other rules")
	}
	return out
}

func (b *builder) constants(name string, t *schema.Type) []constant {
	var out []constant
	for i, v := range t.Enum {
		pos := t.Pos
		if i < len(t.EnumAt) {
			pos = t.EnumAt[i]
		}
		c := constant{name: name + enumName(v), value: v}
		b.scope.claim(c.name, "enum value "+strconv.Quote(v)+" of "+name, pos)
		out = append(out, c)
	}
	return out
}

// describe is the description of a property's type, or of the named type that
// it refers to.
func describe(t *schema.Type) string {
	if t.Description == "" && t.Kind == schema.Ref {
		return describe(t.Ref.Type)
	}
	if t.Description == "" && t.Kind == schema.Nullable {
		return describe(t.Items)
	}
	return t.Description
}

// title is that of a type at a place, which may be its type's.
func title(t *schema.Type) string {
	if t.Title == "" && t.Kind == schema.Ref {
		return title(t.Ref.Type)
	}
	if t.Title == "" && t.Kind == schema.Nullable {
		return title(t.Items)
	}
	return t.Title
}

func ints(values ...int) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strconv.Itoa(v)
	}
	return out
}

func quoted(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = goString(v)
	}
	return out
}
