package lint

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/capgen/capgen/internal/verbs"
	"github.com/capgen/capgen/schema"
)

// types applies the rules about named types, those of inputs as inputs.
func (l *linter) types() {
	inputs := make(map[*schema.NamedType]bool)
	for _, c := range l.Capabilities {
		schema.References(c.Input, inputs)
	}
	for _, t := range l.Types {
		if inputs[t] {
			l.members(typePrefix+t.Name, t.Type)
		}
		l.schemaRules(typePrefix+t.Name, "type "+t.Name, t.Type, true)
	}
}

// input applies the rules about the parameters of a capability.
func (l *linter) input(c *schema.Capability) {
	l.members(c.Name, c.Input)
	l.schemaRules(c.Name, "the input of "+c.Name, c.Input, true)
	object := schema.Resolve(c.Input)
	if object == nil {
		return
	}
	snake, camel := "", ""
	for _, p := range object.Properties {
		if p.Fixed {
			continue
		}
		words := verbs.Words(p.Name)
		name := strings.Join(words, "_")
		kind := bare(p.Type).Kind
		switch {
		case kind == schema.Boolean && slices.Contains([]string{"confirm", "confirmed", "confirmation", "approve", "approved", "approval", "skip_confirmation", "skip_approval", "user_confirmed", "i_am_sure", "yes", "are_you_sure"}, name):
			l.find("self-confirmed", c.Name, p.Pos, "remove it: a program would set it by itself; approval is people's to give, outside of the call",
				"parameter %s of %s lets a program confirm its own call", p.Name, c.Name)
		case kind == schema.String && secretName(words) && c.Approval != nil:
			l.find("frozen-credential", c.Name, p.Pos, "let the host hold the credential, and pass what it is called",
				"parameter %s of %s takes a credential, which its plans would keep and show", p.Name, c.Name)
		case kind == schema.String && secretName(words):
			l.find("credential-parameter", c.Name, p.Pos, "let the host hold the credential: a model that passes one has seen it",
				"parameter %s of %s takes a credential", p.Name, c.Name)
		case slices.Contains([]string{"as_user", "run_as", "on_behalf_of", "impersonate", "acting_user", "act_as", "sudo", "caller", "caller_id", "current_user", "subject_id"}, name):
			l.find("identity-parameter", c.Name, p.Pos, "the handler has the subject from the host: what a program says of itself is worth nothing",
				"parameter %s of %s says who calls", p.Name, c.Name)
		}
		if strings.Contains(strings.Trim(p.Name, "_"), "_") {
			snake = p.Name
		} else if strings.ContainsFunc(p.Name[1:], func(r rune) bool { return r >= 'A' && r <= 'Z' }) {
			camel = p.Name
		}
	}
	if snake != "" && camel != "" {
		l.find("mixed-parameter-names", c.Name, place(c, "input"), "choose one way to write names", "%s has parameters %s and %s, written in two ways", c.Name, snake, camel)
	}
}

// secretName tells whether a parameter's words name a credential: token alone,
// or what kind of token it is, but no page token.
func secretName(words []string) bool {
	name := strings.Join(words, "_")
	if slices.Contains([]string{"token", "auth", "authorization", "credential", "credentials", "secret", "passwd", "password", "passphrase", "apikey", "api_key", "private_key", "secret_key", "access_key", "client_secret", "jwt", "cookie"}, name) {
		return true
	}
	for _, end := range []string{"access_token", "auth_token", "api_token", "bearer_token", "refresh_token", "session_token", "_password", "_api_key"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// members applies the rules about what a program passes: one finding names all
// parameters without a description, one all that have no bound of their own.
func (l *linter) members(target string, t *schema.Type) {
	var silent, unbounded gathered
	walkMembers(t, func(path string, p *schema.Property) {
		if !p.Fixed && !described(p.Type) {
			silent.add(path, p.Pos)
		}
	}, func(path string, at schema.Position, t *schema.Type, _ bool) {
		if openEnded(t) {
			unbounded.add(path, at)
		}
	})
	if silent.names != nil {
		l.find("missing-parameter-description", target, silent.at, "say what it means, its unit and what happens without it",
			"no description: %s of %s", list(silent.names), target)
	}
	if unbounded.names != nil {
		l.find("unbounded-input", target, unbounded.at, "write maxLength or maxItems: what a program may pass is what a handler has to take",
			"no bound but the default one: %s", whole(unbounded.names, target))
	}
}

type gathered struct {
	names []string
	at    schema.Position
}

func (g *gathered) add(name string, at schema.Position) {
	if g.names == nil {
		g.at = at
	}
	if !slices.Contains(g.names, name) {
		g.names = append(g.names, name)
	}
}

// walkMembers visits the properties that stand inline in t, and every type
// below them, with paths such as filter.tags[]. said tells that a description
// of a list, a map or a union is about the type as well.
func walkMembers(t *schema.Type, property func(path string, p *schema.Property), each func(path string, at schema.Position, t *schema.Type, said bool)) {
	var walk func(t *schema.Type, path string, at schema.Position, said bool)
	walk = func(t *schema.Type, path string, at schema.Position, said bool) {
		if t == nil {
			return
		}
		said = said || t.Description != "" || t.Title != ""
		each(path, at, t, said)
		for _, p := range t.Properties {
			name := strings.TrimPrefix(path+"."+p.Name, ".")
			property(name, p)
			if !p.Fixed {
				walk(p.Type, name, p.Pos, false)
			}
		}
		for _, v := range t.Variants {
			walk(v, path, at, said)
		}
		if t.Kind == schema.Nullable {
			walk(t.Items, path, at, said)
		} else {
			walk(t.Items, path+"[]", at, said)
		}
	}
	if t != nil {
		walk(t, "", t.Pos, false)
	}
}

// described tells whether a reader learns something of t: from its description
// or title, or from those of what it refers to; a constant says all itself.
func described(t *schema.Type) bool {
	switch {
	case t == nil, t.Description != "", t.Title != "", t.Const != "", len(t.Enum) == 1 && !t.Open:
		return true
	case t.Kind == schema.Ref:
		return t.Ref.Type == nil || t.Ref.Type.Description != "" || t.Ref.Type.Title != ""
	case t.Kind == schema.Nullable:
		return described(t.Items)
	}
	return false
}

// bare is t without null and references.
func bare(t *schema.Type) *schema.Type {
	for range 3 {
		if t.Kind == schema.Ref && t.Ref.Type != nil {
			t = t.Ref.Type
		} else if t.Kind == schema.Nullable {
			t = t.Items
		}
	}
	return t
}

// openEnded tells whether only the default cap bounds a string, a list or a
// map.
func openEnded(t *schema.Type) bool {
	switch t.Kind {
	case schema.String:
		return t.Enum == nil && t.MaxLength == schema.MaxLength && !finite(t.Pattern)
	case schema.Array:
		return t.MaxItems == schema.MaxItems
	case schema.Map:
		return t.MaxItems == schema.MaxMembers
	}
	return false
}

// finite tells whether a pattern bounds the length of what it matches.
func finite(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || re.Sub[0].Op != syntax.OpBeginText || re.Sub[len(re.Sub)-1].Op != syntax.OpEndText {
		return false
	}
	var bounded func(*syntax.Regexp) bool
	bounded = func(re *syntax.Regexp) bool {
		return re.Op != syntax.OpStar && re.Op != syntax.OpPlus && (re.Op != syntax.OpRepeat || re.Max >= 0) &&
			!slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !bounded(sub) })
	}
	return bounded(re)
}

// schemaRules applies the rules about any schema; opaque tells whether values
// that nothing checks are worth a finding.
func (l *linter) schemaRules(target, what string, t *schema.Type, opaque bool) {
	var opaques, enums gathered
	walkMembers(t, func(string, *schema.Property) {}, func(path string, at schema.Position, t *schema.Type, said bool) {
		if t.Kind == schema.Opaque && opaque {
			opaques.add(path, at)
		}
		if t.Kind == schema.String && len(t.Enum) > 1 && !said {
			enums.add(path, at)
		}
	})
	if opaques.names != nil {
		l.find("opaque", target, opaques.at, "declare a type where the shape is known", "nothing checks %s", whole(opaques.names, what))
	}
	if enums.names != nil {
		l.find("missing-enum-description", target, enums.at, "say what each value means", "no description of the values: %s", whole(enums.names, what))
	}
}

// whole names parts of something, of which "" is all.
func whole(names []string, what string) string {
	if names[0] == "" {
		return what
	}
	return list(names) + " in " + what
}
