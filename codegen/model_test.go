package codegen_test

import (
	"github.com/capgen/capgen/schema"
)

// Constructors of model values, so that a test says only what it is about.

func str(mods ...func(*schema.Type)) *schema.Type {
	return with(&schema.Type{Kind: schema.String, MaxLength: 1_048_576}, mods)
}

func integer(mods ...func(*schema.Type)) *schema.Type {
	return with(&schema.Type{Kind: schema.Integer, Minimum: -(1<<53 - 1), Maximum: 1<<53 - 1}, mods)
}

func number(mods ...func(*schema.Type)) *schema.Type {
	return with(&schema.Type{Kind: schema.Number}, mods)
}

func boolean() *schema.Type { return &schema.Type{Kind: schema.Boolean} }

func array(items *schema.Type, mods ...func(*schema.Type)) *schema.Type {
	return with(&schema.Type{Kind: schema.Array, Items: items, MaxItems: 10_000}, mods)
}

func object(props ...*schema.Property) *schema.Type {
	return &schema.Type{Kind: schema.Object, Properties: props}
}

func ref(t *schema.NamedType) *schema.Type { return &schema.Type{Kind: schema.Ref, Ref: t} }

func enum(values ...string) *schema.Type {
	return str(func(t *schema.Type) { t.Enum = values })
}

func with(t *schema.Type, mods []func(*schema.Type)) *schema.Type {
	for _, mod := range mods {
		mod(t)
	}
	return t
}

func required(name string, t *schema.Type) *schema.Property {
	return &schema.Property{Name: name, Type: t, Required: true}
}

func optional(name string, t *schema.Type) *schema.Property {
	return &schema.Property{Name: name, Type: t}
}

func defaulted(name string, t *schema.Type, def string) *schema.Property {
	return &schema.Property{Name: name, Type: t, Default: def}
}

// capability is a read that anyone may repeat.
func capability(name string, input, output *schema.Type, mods ...func(*schema.Capability)) *schema.Capability {
	c := &schema.Capability{
		ID: name, Name: name, Summary: "Do " + name + ".", Description: "Do " + name + ".",
		Effect: "read", Idempotency: "natural", World: "closed",
		Input: input, Output: output,
	}
	for _, mod := range mods {
		mod(c)
	}
	return c
}

func manifest(pkg string, types []*schema.NamedType, caps ...*schema.Capability) *schema.Manifest {
	return &schema.Manifest{
		Package: pkg, Server: schema.Server{Name: "test", Version: "1.0.0"},
		Types: types, Capabilities: caps,
	}
}

// kinds is a manifest that uses every kind in every position.
func kinds(pkg string) *schema.Manifest {
	path := &schema.NamedType{Name: "Path", Type: str(func(t *schema.Type) { t.Pattern, t.MaxLength, t.Description = "^/", 64, "An absolute path." })}
	level := &schema.NamedType{Name: "level", Type: enum("low", "high")}
	tags := &schema.NamedType{Name: "tag_set", Type: array(enum("a", "b"), func(t *schema.Type) { t.MaxItems = 3 })}
	entry := &schema.NamedType{Name: "Entry", Type: object(
		required("path", ref(path)),
		optional("level", ref(level)),
		defaulted("tags", ref(tags), `["a"]`),
		optional("owner", object(required("user_id", integer()), defaulted("kind", enum("person", "bot"), `"bot"`))),
	)}
	entry.Type.Description = "One entry."
	alias := &schema.NamedType{Name: "EntryAlias", Type: ref(entry)}
	flag := &schema.NamedType{Name: "Flag", Type: boolean()}
	limit := &schema.NamedType{Name: "Limit", Type: integer(func(t *schema.Type) { t.Minimum, t.Maximum, t.MultipleOf = 0, 100, "5" })}
	ratio := &schema.NamedType{Name: "Ratio", Type: number(func(t *schema.Type) { t.NumberMin, t.NumberMax, t.ExclusiveMax = "0", "1.5", true })}
	grid := &schema.NamedType{Name: "Grid", Type: array(array(object(required("x", integer()))))}
	return manifest(pkg, []*schema.NamedType{path, level, tags, entry, alias, flag, limit, ratio, grid},
		capability("every.kinds", object(
			required("text", str(func(t *schema.Type) {
				t.MinLength, t.MaxLength, t.Pattern, t.Description = 1, 10, "^[a-z]+$", "Lower-case letters."
			})),
			required("count", integer(func(t *schema.Type) { t.Minimum, t.Maximum, t.MultipleOf = -9, 1_000, "3" })),
			required("half", integer(func(t *schema.Type) { t.MultipleOf = "0.5" })),
			required("ratio", number(func(t *schema.Type) {
				t.NumberMin, t.ExclusiveMin, t.NumberMax, t.MultipleOf = "0", true, "1e+21", "0.25"
			})),
			required("on", boolean()),
			required("mode", enum("fast", "slow-ish", "")),
			required("list", array(str(func(t *schema.Type) { t.MaxLength, t.Pattern = 8, "x" }), func(t *schema.Type) { t.MinItems, t.MaxItems = 1, 4 })),
			required("nested", object(required("deep", object(required("leaf", boolean()))))),
			required("entry", ref(entry)),
			optional("opt_text", str()),
			optional("opt_ratio", number(func(t *schema.Type) { t.NumberMin = "-0.5" })),
			optional("opt_mode", enum("x", "y")),
			optional("opt_list", array(array(number(func(t *schema.Type) { t.NumberMax = "9" })))),
			optional("opt_nested", object(optional("a", boolean()))),
			optional("opt_entry", ref(alias)),
			defaulted("d_text", str(), `"a \"b\" \u202e"`),
			defaulted("d_int", integer(), `7`),
			defaulted("d_num", number(), `1e+30`),
			defaulted("d_bool", boolean(), `true`),
			defaulted("d_mode", enum("p", "q"), `"q"`),
			defaulted("d_list", array(integer()), `[1,2]`),
			defaulted("d_empty", array(integer()), `[]`),
			defaulted("d_object", object(required("id", integer()), optional("tag", str()), defaulted("in", boolean(), `true`)), `{"id":4,"tag":"t"}`),
			defaulted("d_entry", ref(entry), `{"path":"/","level":"high","owner":{"user_id":1}}`),
			defaulted("d_level", ref(level), `"low"`),
		), array(object(required("file_name", str()), required("kinds", array(enum("f", "d"))))), func(c *schema.Capability) {
			c.Description, c.Search, c.Scopes = "Use every kind.\n\nIn every position.", []string{"everything"}, []string{"kinds:read"}
		}),
		capability("every.none", object(), boolean()),
		capability("every.number", object(), number()),
		capability("every.mode", object(), enum("on", "off")),
		capability("every.same", ref(entry), ref(entry)),
		capability("every.types", object(
			required("flag", ref(flag)), required("limit", ref(limit)), required("ratio", ref(ratio)), required("grid", ref(grid)),
			optional("limits", array(ref(limit))), defaulted("limit2", ref(limit), `10`),
		), ref(grid)),
		capability("deep.space.read_many", object(required("ids", array(integer()))), str()),
	)
}
