package review

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/capgen/capgen/schema"
	"github.com/capgen/capgen/schema/breaking"
)

// manyCapabilities is a manifest of n of them, of which the words and a bound of
// every tenth hold a number.
func manyCapabilities(n, number int) string {
	var b strings.Builder
	b.WriteString("capgen: 1\ngo: {package: example.com/x/generated}\nserver: {name: x, version: 1.0.0}\n" +
		"types:\n  Record: {type: object, required: [key, count], properties: {key: {type: string, maxLength: 128, description: Its key.}, count: {type: integer, minimum: 0}}}\ncapabilities:\n")
	for i := range n {
		tenth := 0
		if i%10 == 0 {
			tenth = number
		}
		fmt.Fprintf(&b, `  - name: area%d.find_thing_%d
    summary: Find things of kind %d in area %d.
    description: Looks through the records of area %d and returns those that match, newest first, %d at most.
    search: [look up thing %d, "which things are in area %d", search kind %d]
    effect: read
    scopes: [things:read]
    input:
      type: object
      required: [query]
      properties:
        query: {type: string, minLength: 1, maxLength: 256, description: Words to look for.}
        kind: {type: string, enum: [small, large, other], default: other, description: Which kind.}
        limit: {type: integer, minimum: 1, maximum: %d, default: 20, description: How many at most.}
        since: {type: string, format: date-time, description: Nothing older.}
    output:
      type: object
      required: [items]
      properties:
        items: {type: array, maxItems: 100, items: {$ref: "#/types/Record"}, description: What was found.}
        next: {type: string, maxLength: 64}
    errors: {not_found: Nothing matches., busy: Try again.}
`, i/20, i, i, i/20, i/20, 100+tenth, i, i/20, i, 100+tenth)
	}
	return b.String()
}

// BenchmarkReview is a change of a hundred capabilities of a thousand. Loading
// one of the two manifests is the control.
func BenchmarkReview(b *testing.B) {
	text := manyCapabilities(1_000, 0)
	base, head := load(b, text), load(b, manyCapabilities(1_000, 1))
	in := Input{Base: base, Head: head, BaseName: "base", HeadName: "head", Today: today}
	b.Run("Load", func(b *testing.B) {
		for b.Loop() {
			if m, _ := schema.Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml"); m == nil {
				b.Fatal("no manifest")
			}
		}
	})
	b.Run("Compare", func(b *testing.B) {
		for b.Loop() {
			if r := breaking.Compare(base, head, today); len(r.Findings) == 0 {
				b.Fatal("nothing found")
			}
		}
	})
	b.Run("New", func(b *testing.B) {
		for b.Loop() {
			if _, err := New(in); err != nil {
				b.Fatal(err)
			}
		}
	})
	r, err := New(in)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("JSON", func(b *testing.B) {
		for b.Loop() {
			if err := r.WriteJSON(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Markdown", func(b *testing.B) {
		for b.Loop() {
			if err := r.WriteMarkdown(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
}
