package canon_test

import (
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
)

// texts reads an array of at most 1,000 strings.
func texts(r *canon.Reader) (list []string) {
	r.BeginArray(0, 1000)
	for r.NextElement() {
		list = canon.Append(r, list, r.String(0, 100))
	}
	return list
}

// The first element makes room for all, whatever stands in those behind it.
func TestAppendMakesRoomOnce(t *testing.T) {
	for text, want := range map[string]int{
		`[]`:                                     0,
		`["a"]`:                                  1,
		`["a","b" , "c"]`:                        3,
		`["a","\"],[{","\\","\\\"",",,"]`:        5,
		`["` + strings.Repeat(`","`, 999) + `"]`: 1000,
	} {
		r := canon.NewJSONReader([]byte(text), 32)
		list := texts(r)
		if err := r.End(); err != nil || len(list) != want || cap(list) != want {
			t.Errorf("%.40s: %d elements with room for %d, %v, want %d", text, len(list), cap(list), err, want)
		}
	}
	rows := func(r *canon.Reader) (rows [][]string) {
		r.BeginArray(0, 10)
		for r.NextElement() {
			rows = canon.Append(r, rows, texts(r))
		}
		return rows
	}
	const nested = `[["a","b"],["]"],[],["c"]]`
	r := canon.NewJSONReader([]byte(nested), 32)
	if list := rows(r); r.End() != nil || len(list) != 4 || cap(list) != 4 || cap(list[0]) != 2 {
		t.Errorf("%s: %v, room for %d, %v", nested, list, cap(list), r.Err())
	}
	r = canon.NewWireReader([]byte("\x93\xa1a\xa1b\xa1c"), 32)
	if list := texts(r); r.End() != nil || len(list) != 3 || cap(list) != 3 {
		t.Errorf("wire: %v, room for %d, %v", list, cap(list), r.Err())
	}
}

// What promises more than it holds gets room for what the array may hold at
// most, and for no more than there are bytes.
func TestAppendIsNotTalkedIntoMore(t *testing.T) {
	for name, test := range map[string]struct {
		r    *canon.Reader
		most int
	}{
		"commas":         {canon.NewJSONReader([]byte(`["a"`+strings.Repeat(",", 1_000_000)), 32), 1000},
		"few commas":     {canon.NewJSONReader([]byte(`["a",,,`), 32), 4},
		"an open string": {canon.NewJSONReader([]byte(`["a","b","`+strings.Repeat(",", 5000)), 32), 3},
		"no end":         {canon.NewJSONReader([]byte(`["a"`), 32), 1},
		"an open object": {canon.NewJSONReader([]byte(`["a",{`+strings.Repeat(",", 5000)), 32), 2},
		"a wire header":  {canon.NewWireReader([]byte("\xdc\x03\xe8\xa1a"+strings.Repeat("z", 5000)), 32), 1000},
	} {
		list := texts(test.r)
		if test.r.End() == nil || cap(list) > test.most || cap(list) == 0 {
			t.Errorf("%s: room for %d, at most %d, %v", name, cap(list), test.most, test.r.Err())
		}
	}
	r := canon.NewJSONReader([]byte(`[1]`), 32)
	if list := texts(r); list != nil {
		t.Errorf("after an error: %v", list)
	}
}
