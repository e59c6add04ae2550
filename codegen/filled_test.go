package codegen_test

import (
	"strings"
	"testing"

	"github.com/capgen/capgen/codegen/testdata/kinds/generated/more"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime/canon"
)

// Defaults of unions are filled in as the variant they are, defaults inside of
// them too.
func TestUnionDefaults(t *testing.T) {
	const want = `{"entry":{"owner":{"kind":"bot","user_id":1},"path":"/a"},"event":{"op":"put","value":3},"flag":true,` +
		`"formulas":[1,"a",[2,["b",3]]],"list":[1,2],"none":[],"none_at_all":null,"number":1.5,"path":"/b",` +
		`"pets":[{"chases":{"kind":"cat","lives":9},"kind":"dog"}],"word":"all"}`
	v, err := decode[more.FilledInput](canon.NewJSONReader([]byte("{}"), depth))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(v.AppendCanonical(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if dog, ok := v.Pets[0].Value.(*types.PetDog); !ok || dog.Kind != "dog" {
		t.Errorf("%#v", v.Pets[0])
	}
	// A default is made anew for each value.
	again, _ := decode[more.FilledInput](canon.NewJSONReader([]byte("{}"), depth))
	v.Pets[0].Value.(*types.PetDog).Kind = "changed"
	if again.Pets[0].Value.(*types.PetDog).Kind != "dog" {
		t.Error("two values share a default")
	}
}

// A word that an open enum does not list passes as it is, up to the bound.
func TestOpenEnums(t *testing.T) {
	v, err := decode[more.OpenInput](canon.NewJSONReader([]byte(`{"phase":"begun","mode":"slow","maybe":"","modes":["p","z"]}`), depth))
	if err != nil {
		t.Fatal(err)
	}
	if !v.Phase.Known() || v.Phase != types.PhaseBegun || v.Mode.Value.Known() || v.Mode.Value != "slow" || v.Modes.Value[1].Known() || v.DMode != "other" {
		t.Errorf("%+v", v)
	}
	if got, want := string(v.AppendCanonical(nil)), `{"d_mode":"other","maybe":"","mode":"slow","modes":["p","z"],"phase":"begun"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, text := range []string{`{"phase":1}`, `{"phase":null}`, `{"phase":"` + strings.Repeat("a", 257) + `"}`} {
		if _, err := decode[more.OpenInput](canon.NewJSONReader([]byte(text), depth)); err == nil {
			t.Errorf("%.20s is accepted", text)
		}
	}
}
