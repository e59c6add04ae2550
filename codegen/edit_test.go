package codegen_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
)

// What one line of a manifest changes is one package and its lock file, so
// that a reviewer reads that and a build compiles that: of a hundred
// capabilities in five namespaces, whichever line it is.
func TestOneLineChangesOnePackage(t *testing.T) {
	text := string(manyCapabilities(100)) + "deployments: {default: {}, prod: {exclude: [space3.get_record_70]}}\n"
	before := generate(t, load(t, "m.yaml", []byte(text)))
	for _, test := range []struct {
		name, old, new string
		want           []string // files beside the sums and the schemas of policies
	}{
		{"a summary", "Look up record 25 by", "Find record 25 by", []string{
			"lock/space1.lock", "space1/get_record_25_gen.go", "space1/handlers.gen.go"}},
		{"a bound", "maxLength: 128, description: What the record is stored under.}\n        limit: {type: integer, minimum: 1, maximum: 100",
			"maxLength: 129, description: What the record is stored under.}\n        limit: {type: integer, minimum: 1, maximum: 100", []string{
				"lock/space0.lock", "space0/get_record_0_gen.go"}},
		{"of a namespace in two forms", "Look up record 65 by", "Find record 65 by", []string{
			"lock/space3.lock", "space3/get_record_65_gen.go", "space3/handlers.default.gen.go", "space3/handlers.gen.go"}},
		{"of what a deployment lacks", "Look up record 70 by", "Find record 70 by", []string{
			"lock/space3.lock", "space3/get_record_70_gen.go", "space3/handlers.default.gen.go"}},
		{"a deployment", "prod: {exclude: [space3.get_record_70]}", "prod: {exclude: [space3.get_record_71]}", []string{
			"lock/space3.lock", "space3/get_record_70_gen.go", "space3/get_record_71_gen.go", "space3/handlers.gen.go"}},
		{"a requirement", "default: {}, prod: {", "default: {}, prod: {require: [sandbox], ", []string{
			"catalog/deployment.gen.go", "catalog/deployment.prod.gen.go", "lock/catalog.lock"}},
	} {
		changed := strings.Replace(text, test.old, test.new, 1)
		if changed == text {
			t.Fatalf("no %q", test.old)
		}
		after := generate(t, load(t, "m.yaml", []byte(changed)))
		var got []string
		for _, name := range slices.Sorted(maps.Keys(after)) {
			if !bytes.Equal(before[name], after[name]) && name != "lock/generated.sha256" && !strings.HasPrefix(name, "policy/") {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, test.want) || len(before) != len(after) {
			t.Errorf("%s changes %v, want %v", test.name, got, test.want)
		}
	}
	// The catalog, which every change of an interface compiles again, is small.
	for name, content := range before {
		if n := bytes.Count(content, []byte("\n")); strings.HasPrefix(name, "catalog/") && n > 50 {
			t.Errorf("%s has %d lines for five namespaces", name, n)
		}
	}
}
