package schema

import "testing"

// Offsets and the YAML parser's code points lead to the same byte positions,
// forwards and backwards.
func TestPositions(t *testing.T) {
	const text = "aé日x\n\nb: ü\r\nc"
	src := newSource("f", []byte(text))
	type place struct{ line, column int }
	places := []struct {
		offset int
		runes  place // as the parser counts
		bytes  place
	}{
		{0, place{1, 1}, place{1, 1}},
		{3, place{1, 3}, place{1, 4}},
		{6, place{1, 4}, place{1, 7}},
		{8, place{2, 1}, place{2, 1}},
		{12, place{3, 4}, place{3, 4}},
		{16, place{4, 1}, place{4, 1}},
		{17, place{4, 2}, place{4, 2}},
	}
	c := cursor{source: src}
	for _, from := range places {
		for _, p := range places {
			c.position(from.runes.line, from.runes.column)
			want := Position{"f", p.bytes.line, p.bytes.column}
			if got := c.position(p.runes.line, p.runes.column); got != want {
				t.Errorf("after %v, %v is %v, want %v", from.runes, p.runes, got, want)
			}
			if got := src.at(p.offset); got != want {
				t.Errorf("offset %d is %v, want %v", p.offset, got, want)
			}
		}
	}
	// Places that do not exist stay in the file.
	for _, p := range []place{{0, 0}, {-1, -1}, {99, 99}, {1, 99}} {
		got := c.position(p.line, p.column)
		if got.Line < 1 || got.Line > 4 || got.Column < 1 || got.Column > 8 {
			t.Errorf("%v is %v", p, got)
		}
	}
	if src.at(-5) != src.at(0) || src.at(1000) != src.at(len(text)) {
		t.Error("an offset outside")
	}
}
