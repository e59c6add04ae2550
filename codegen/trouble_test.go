package codegen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

// troubled is a manifest: types and the names of capabilities, each with what
// stands in its place of properties.
func troubled(types string, capabilities ...string) string {
	var b strings.Builder
	b.WriteString("capgen: 1\ngo: {package: example.com/g/generated}\nserver: {name: s, version: \"1\"}\n")
	if types != "" {
		b.WriteString("types:\n" + types)
	}
	b.WriteString("capabilities:\n")
	for _, c := range capabilities {
		name, properties, _ := strings.Cut(c, " ")
		fmt.Fprintf(&b, "  - {name: %q, summary: S., effect: read, scopes: none, output: {type: boolean}, input: {type: object, properties: {%s}}}\n", name, properties)
	}
	return b.String()
}

// each is a property of every word.
func each(words ...string) string {
	var b strings.Builder
	for i, w := range words {
		// A struct, an enum, a union, a nullable and a map have names of their own.
		kind := []string{
			`{type: object, properties: {x: {type: string}}}`, `{type: string, enum: [a, b]}`, `{oneOf: [{type: integer}, {type: string}]}`,
			`{type: [string, "null"], enum: [a, null]}`, `{type: object, additionalProperties: {type: object, properties: {}}}`, `{type: string, pattern: "^a"}`, `{type: boolean}`,
		}[i%7]
		fmt.Fprintf(&b, "%q: %s, ", w, kind)
	}
	return b.String()
}

var goWords = []string{
	"break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go", "goto", "if", "import", "interface",
	"map", "package", "range", "return", "select", "struct", "switch", "type", "var",
	"any", "append", "bool", "byte", "cap", "clear", "close", "comparable", "complex", "copy", "delete", "error", "false", "float64", "int", "int64", "iota",
	"len", "make", "max", "min", "new", "nil", "panic", "print", "real", "recover", "rune", "string", "true", "uint", "uintptr",
}

// without are words but for those in drop.
func without(words []string, drop ...string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(drop, w) })
}

// Names that mean something to Go, to programs or to generated code either
// compile, or are an error that points at both places where there are two.
// Each finding is "line:column rule related", the last - for none. In the
// manifest the names of capabilities stand at column 12, properties from 120 on.
func TestTroubledNames(t *testing.T) {
	all := func(prefix, suffix string, words []string) (out []string) {
		for _, w := range words {
			out = append(out, prefix+w+suffix)
		}
		return out
	}
	starlark := []string{"break", "continue", "else", "for", "if", "import", "return"}
	free := without(goWords, starlark...)
	const long = "a23456789_123456789_123456789_123456789_123456789_123456789_1234"
	for _, test := range []struct {
		name, manifest string
		want           []string
	}{
		{"Go words as leaves", troubled("", all("words.", "", free)...), nil},
		{"Go words as namespaces", troubled("", all("", ".x", without(free, "map", "any", "bool", "int", "len", "max", "min", "print", "range", "type"))...), nil},
		{"Go words as inner namespaces", troubled("", all("n.", ".x", free)...), nil},
		{"Go words as properties", troubled("", "n.x "+each(free...)), nil},
		{"Starlark words as leaves", troubled("", "n.lambda", "n.def"), []string{"5:12 reserved-name -", "6:12 reserved-name -"}},
		{"Starlark words as namespaces", troubled("", "pass.x"), []string{"5:12 reserved-name -"}},
		{"Starlark words as properties", troubled("", "n.x "+each("lambda", "def", "in", "None")), []string{"5:120 reserved-name -", "5:179 reserved-name -", "5:216 reserved-name -", "5:266 reserved-name -"}},
		{"predeclared names of programs as leaves", troubled("", all("n.", "", []string{"len", "range", "sorted", "struct", "json", "runtime", "print", "dir"})...), nil},
		{"predeclared names of programs as namespaces", troubled("", all("", ".x", []string{"len", "json", "map", "print", "runtime"})...), []string{"5:12 reserved-name -", "6:12 reserved-name -", "7:12 reserved-name -", "8:12 reserved-name -"}},
		{"words of generated code as leaves", troubled("", all("n.", "", []string{"handlers", "register", "init", "main", "decode", "encode", "self", "canon", "runtime", "context", "b", "h", "v", "r", "w", "ctx", "string", "error"})...), nil},
		{"words of generated code as namespaces", troubled("", all("", ".x", []string{"init", "self", "canon", "context", "b", "h", "v", "r", "w", "ctx", "error", "handlers", "register", "server", "deployment"})...), nil},
		{"fields", troubled("", "n.x "+each("self", "init", "String", "error", "Errors", "value", "present", "valid", "isX", "get", "GoString", "v", "r", "w", "e", "seen", "canon", "nil", "main")), nil},
		{"fields 2", troubled("", "n.x "+each("string", "is_x", "n", "i", "k", "key", "item", "variant", "x", "any", "len", "true", "iota")), nil},
		{"field _", troubled("", "n.x _: {type: string}"), []string{"5:120 bad-name -"}},
		{"field __1", troubled("", "n.x __1: {type: string}"), []string{"5:120 bad-name -"}},
		{"fields Decode, Encode", troubled("", "n.x Decode: {type: string}, encode: {type: string}, append_canonical: {type: string}"), []string{"5:120 go-name-collision -", "5:144 go-name-collision -", "5:168 go-name-collision -"}},
		{"decode in a nested object", troubled("", "n.x o: {type: object, properties: {decode: {type: string}}}"), []string{"5:151 go-name-collision -"}},
		{"decode in a variant", troubled("", "n.x o: {oneOf: [{type: object, properties: {decode: {type: string}}}, {type: string}]}"), []string{"5:160 go-name-collision -"}},
		{"append_canonical in a nested object", troubled("", "n.x o: {type: object, properties: {append_canonical: {type: string}}}"), []string{"5:151 go-name-collision -"}},
		{"Starlark words inside", troubled("", "n.x o: {type: object, properties: {"+each("lambda", "def", "in", "None", "self", "init")+"}}"), nil},
		{"case of fields", troubled("", "n.x error: {type: string}, Error: {type: string}"), []string{"5:143 go-name-collision 5:120"}},
		{"directories that Go refuses", troubled("", "con.x", "n.aux.x", "lpt1.x", "n.internal.x", "main.x"), []string{"5:12 reserved-name -", "6:12 reserved-name -", "7:12 reserved-name -", "8:12 reserved-name -", "9:12 reserved-name -"}},
		{"the same as leaves and fields", troubled("", all("n.", "", []string{"con", "aux", "internal", "main", "x_test", "x_windows"})...), nil},
		{"dash", troubled("", "n.a-b"), []string{"5:12 bad-name -"}},
		{"dash in a property", troubled("", "n.x a-b: {type: string}, a_b: {type: string}"), []string{"5:120 bad-name -"}},
		{"dash in an enum", troubled("", "n.x k: {type: string, enum: [a-b, a_b]}"), []string{"5:150 go-name-collision 5:145"}},
		{"dash in tags", troubled("", "n.x o: {oneOf: [{type: object, required: [k], properties: {k: {const: a-b, type: string}}}, {type: object, required: [k], properties: {k: {const: a_b, type: string}}}]}"), []string{"5:208 go-name-collision 5:132", "5:254 go-name-collision 5:178", "5:262 go-name-collision 5:186"}},
		{"case of properties", troubled("", "n.x user_id: {type: string}, userId: {type: string}"), []string{"5:145 go-name-collision 5:120"}},
		{"case of types", troubled("  URL: {type: string}\n  Url: {type: string}\n", "n.x"), []string{"6:3 name-collision 5:3"}},
		{"case of type files", troubled("  HttpAPI: {type: string}\n  HTTPApi: {type: string}\n", "n.x"), []string{"6:3 name-collision 5:3"}},
		{"leaves of one Go name", troubled("", "n.a_b", "n.a__b"), []string{"6:5 go-name-collision 5:5", "6:71 go-name-collision 5:70", "6:95 go-name-collision 5:94"}},
		{"namespaces of one Go name", troubled("", "a_b.x", "a.b.x"), []string{"6:5 go-name-collision 5:5"}},
		{"type named like a namespace", troubled("  Files: {type: object, properties: {files: {$ref: \"#/types/Files\"}}}\n", "files.files files: {$ref: \"#/types/Files\"}"), nil},
		{"type named like generated code", troubled("  Handlers: {type: string}\n  X: {type: string}\n  Canon: {type: integer}\n  XInput: {type: boolean}\n  Types: {type: string}\n", "n.x a: {$ref: \"#/types/Handlers\"}, b: {$ref: \"#/types/XInput\"}, types: {$ref: \"#/types/Types\"}"), nil},
		{"namespace types", troubled("", "types.x"), []string{"5:12 reserved-name -"}},
		{"inner namespace types", troubled("  A: {type: string}\n", "n.types.x a: {$ref: \"#/types/A\"}"), nil},
		{"capability that is a namespace", troubled("", "a.b", "a.b.c"), []string{"6:12 name-collision 5:12"}},
		{"capability that is an outer namespace", troubled("", "a.b.c.d", "a.b"), []string{"5:12 name-collision 6:12"}},
		{"capability twice", troubled("", "a.b", "a.b"), []string{"6:12 name-collision 5:12"}},
		{"64 characters", troubled("", "n."+long[:62]+" "+each(long, long[:63]+"5")), nil},
		{"65 characters", troubled("", "n."+long[:63]), []string{"5:12 bad-name -"}},
		{"property of 65 characters", troubled("", "n.x "+long+"5: {type: string}"), []string{"5:120 bad-name -"}},
		{"type of 64 characters", troubled("  A"+strings.ReplaceAll(long, "_", "0")[:63]+": {type: string}\n", "n.x"), nil},
		{"type of 65 characters", troubled("  A"+strings.ReplaceAll(long, "_", "0")+": {type: string}\n", "n.x"), []string{"5:3 bad-name -"}},
		{"Variant", troubled("", "n.x a: {oneOf: [{type: string}, {type: integer}]}, a_variant: {type: object, properties: {}}"), []string{"5:178 go-name-collision 5:123"}},
		{"variant called Variant", troubled("", "n.x a: {oneOf: [{type: object, required: [k], properties: {k: {type: string, const: variant}}}, {type: object, required: [k], properties: {k: {type: string, const: b}}}]}"), []string{"5:132 go-name-collision 5:123"}},
		{"variant and property", troubled("", "n.x a: {oneOf: [{type: string}, {type: integer}]}, a_string: {type: object, properties: {}}"), []string{"5:177 go-name-collision 5:132"}},
		{"variant type called Variant", troubled("  Variant: {type: string}\n", "n.x a: {oneOf: [{$ref: \"#/types/Variant\"}, {type: integer}]}"), []string{"7:132 go-name-collision 7:123"}},
		{"union type and a type", troubled("  A: {oneOf: [{type: string}, {type: integer}]}\n  AVariant: {type: string}\n  AString: {type: string}\n", "n.x"), []string{"6:3 go-name-collision 5:6", "7:3 go-name-collision 5:15"}},
		{"variants of variants", troubled("  A: {oneOf: [{type: object, properties: {b: {oneOf: [{type: string}, {type: integer}]}}}, {type: integer}]}\n  AObjectB: {type: string}\n", "n.x"), []string{"6:3 go-name-collision 5:46"}},
		{"value and nullable", troubled("", "n.x a: {type: [object, \"null\"], properties: {}}, a_value: {type: object, properties: {}}"), []string{"5:174 go-name-collision 5:123"}},
		{"value and map", troubled("", "n.x a: {type: object, additionalProperties: {type: object, properties: {}}}, a_value: {type: string, enum: [a]}"), []string{"5:202 go-name-collision 5:160"}},
		{"item", troubled("", "n.x a: {type: array, items: {type: object, properties: {}}}, a_item: {type: object, properties: {}}"), []string{"5:185 go-name-collision 5:144"}},
		{"pattern", troubled("", "n.x a: {type: string, pattern: \"^a\"}, a_pattern: {type: string, pattern: \"^b\"}"), nil},
		{"keys pattern", troubled("", "n.x a: {type: object, additionalProperties: {type: string, pattern: \"^b\"}, propertyNames: {pattern: \"^a\"}}, a_value: {type: string, pattern: \"^c\"}, a_key: {type: string, pattern: \"^c\"}"), []string{"5:233 go-name-collision 5:160", "5:271 go-name-collision 5:123"}},
		{"type and its value", troubled("  A: {type: [object, \"null\"], properties: {}}\n  AValue: {type: string}\n", "n.x"), []string{"6:3 go-name-collision 5:6"}},
		{"enum value and type", troubled("  A: {type: string, enum: [b, variant]}\n  AB: {type: string}\n", "n.x"), []string{"6:3 go-name-collision 5:28"}},
		{"method of a union", troubled("", "n.x a: {oneOf: [{type: object, properties: {is_xinput_a: {type: string}, isXInputA: {type: string}, value: {type: string}}}, {type: integer}]}"), nil},
		{"field and type of a map value", troubled("  Value: {type: object, properties: {value: {type: object, additionalProperties: {type: object, properties: {value: {type: object, properties: {}}}}}}}\n", "n.x value: {type: [object, \"null\"], properties: {value: {oneOf: [{type: object, properties: {value: {type: string}, present: {type: string}}}, {type: string}]}}}"), nil},
		{"input and capability", troubled("", "n.list filter_input: {type: object, properties: {}}", "n.list_input_filter"), []string{"6:108 go-name-collision 5:137"}},
		{"constructor", troubled("", "n.x", "n.x_capability", "n.register", "n.handlers"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, diags := schema.Load(map[string][]byte{"m.yaml": []byte(test.manifest)}, "m.yaml")
			var files map[string][]byte
			if m != nil {
				var more []schema.Diagnostic
				files, more = codegen.Generate(m)
				diags = append(diags, more...)
			}
			var got []string
			for _, d := range diags {
				if d.Severity != schema.SeverityError {
					continue
				}
				related := "-"
				if d.Related != nil {
					related = fmt.Sprintf("%d:%d", d.Related.Line, d.Related.Column)
				}
				got = append(got, fmt.Sprintf("%d:%d %s %s", d.Line, d.Column, d.Rule, related))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings %v\nGOT %q", diags, got)
			}
			if files == nil && len(got) == 0 {
				t.Fatal("no files and no findings")
			}
			if files != nil {
				typecheck(t, m.Package, files)
			}
		})
	}
}
