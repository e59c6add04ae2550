package codegen

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var updateWire = flag.Bool("update-wire", false, "write package runtime/govern/wire")

// The types that programs and govern exchange are those that the family's
// schemas mean.
func TestWireIsGenerated(t *testing.T) {
	files, err := Wire()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "runtime", "govern", "wire")
	there, err := filepath.Glob(filepath.Join(dir, "*_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range there {
		if _, ok := files[filepath.Base(name)]; !ok {
			t.Errorf("%s: nothing generates it", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		if *updateWire {
			if err := os.WriteFile(path, files[name], 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, files[name]) {
			t.Errorf("%s is not what the schemas of approval mean: go test ./codegen -run TestWireIsGenerated -update-wire (%v)", path, err)
		}
	}
}
