//go:build goexperiment.jsonv2

package oracle

import "testing"

// In this build jsontext has its say: it is asked, and it refuses and writes.
func TestJSONText(t *testing.T) {
	got, known, err := second([]byte(`{"b":1.0,"a":"\u00e9"}`))
	if !known || err != nil || string(got) != `{"a":"é","b":1}` {
		t.Errorf("%s, %v, %v", got, known, err)
	}
	for _, text := range []string{`{"a":1,"a":2}`, "\"\xff\"", `"\ud800"`, `1 2`, ``} {
		if _, known, err := second([]byte(text)); !known || err == nil {
			t.Errorf("jsontext takes %q", text)
		}
	}
}
