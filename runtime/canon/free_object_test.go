package canon_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/canon"
)

func decodeFree(r *canon.Reader) (v canon.FreeObject, err error) {
	if err = v.Decode(r); err == nil {
		err = r.End()
	}
	return v, err
}

func TestFreeObject(t *testing.T) {
	v, err := decodeFree(canon.NewJSONReader([]byte("{\"\U0001F600\":1.0,\"\uFB33\":[{}],\"\":null,\"a b\":\"x\"}"), 3))
	if err != nil {
		t.Fatal(err)
	}
	// RFC 8785, section 3.2.3: by UTF-16 code units.
	want := "{\"\":null,\"a b\":\"x\",\"\U0001F600\":1,\"\uFB33\":[{}]}"
	if got := string(v.AppendCanonical(nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wire, err := canon.AppendWire(nil, &v)
	if err != nil {
		t.Fatal(err)
	}
	again, err := decodeFree(canon.NewWireReader(wire, 3))
	if diff := cmp.Diff(v, again); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	var none canon.FreeObject
	if got := string(none.AppendCanonical(nil)); got != "{}" {
		t.Errorf("a nil one is %s", got)
	}
}

func TestFreeObjectRefused(t *testing.T) {
	var many strings.Builder
	for i := range canon.MaxFreeMembers + 1 {
		fmt.Fprintf(&many, `,"k%d":0`, i)
	}
	for text, want := range map[string]struct {
		code canon.Code
		path string
	}{
		`[]`:                           {canon.CodeType, ""},
		`null`:                         {canon.CodeType, ""},
		`{"a":1,"\u0061":2}`:           {canon.CodeDuplicate, "a"},
		`{"a":{"b":9007199254740992}}`: {canon.CodeRange, "a.b"},
		`{"a":[[1]]}`:                  {canon.CodeDepth, "a[0]"},
		"{" + many.String()[1:] + "}":  {canon.CodeLength, "k10000"},
	} {
		_, err := decodeFree(canon.NewJSONReader([]byte(text), 2))
		var e *canon.Error
		if !errors.As(err, &e) || e.Code != want.code || e.Path != want.path {
			t.Errorf("%.40s: %v, want %v at %q", text, err, want.code, want.path)
		}
	}
	big := canon.FreeObject{}
	for i := range canon.MaxFreeMembers + 1 {
		big[fmt.Sprint(i)] = canon.Opaque{}
	}
	var e *canon.Error
	if _, err := canon.AppendWire(nil, &big); !errors.As(err, &e) || e.Code != canon.CodeLength {
		t.Errorf("too many members were written: %v", err)
	}
	if _, err := canon.AppendWire(nil, &canon.FreeObject{"\xff": canon.Opaque{}}); err == nil {
		t.Error("a key that is not UTF-8 was written")
	}
}

func FuzzFreeObject(f *testing.F) {
	jsonSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := decodeFree(canon.NewJSONReader(data, 16))
		if err != nil {
			return
		}
		text, err := canon.CanonicalizeJSON(nil, data, 16)
		if got := v.AppendCanonical(nil); err != nil || string(got) != string(text) {
			t.Fatalf("%q: %s, want %s, %v", data, got, text, err)
		}
	})
}
