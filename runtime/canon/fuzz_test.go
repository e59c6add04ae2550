package canon_test

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tinylib/msgp/msgp"

	"github.com/capgen/capgen/runtime/canon"
)

func jsonSeeds(f *testing.F) {
	for _, s := range []string{
		`null`, `{"a":[1,-0.0,1e2,"\ud83d\ude00"],"b":{"":true}}`, `[01]`, `{"a":1,"\u0061":2}`, `"\ud800"`,
		`1e400`, "\xef\xbb\xbf1", `[1,]`, "\"\xff\"", `{"a" : }`, `[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]`, `9007199254740993`,
		`"\\\"\/\b\f\n\r\t\u0000"`, `-`, `1.`, `1e`, ` `, `tru`, `{"😀":1,"":2}`, `1.5e-7`, `123456789012345678901234567890`,
	} {
		f.Add([]byte(s))
	}
	q := goodQuery()
	f.Add(canon.AppendCanonical(nil, &q))
}

// extraRefusals says why the strict reader refuses a text that encoding/json
// takes; it is empty if it must not.
func extraRefusals(data []byte, maxDepth int) string {
	if !utf8.Valid(data) {
		return "UTF-8"
	}
	if halfPair(data) {
		return "surrogate"
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for depth := 0; ; {
		tok, err := d.Token()
		if err != nil {
			break
		}
		switch tok := tok.(type) {
		case json.Delim:
			if tok == '[' || tok == '{' {
				depth++
			} else {
				depth--
			}
			if depth > maxDepth {
				return "depth"
			}
		case json.Number:
			if _, err := strconv.ParseFloat(tok.String(), 64); err != nil {
				return "range"
			}
		}
	}
	if hasDuplicate(json.NewDecoder(bytes.NewReader(data))) {
		return "duplicate"
	}
	return ""
}

// halfPair looks for a surrogate escape without its other half.
func halfPair(data []byte) bool {
	escapes := regexp.MustCompile(`(?s)\\(?:u[0-9a-fA-F]{4}|.)`).FindAllIndex(data, -1)
	high := -1 // where a low half must stand
	for _, e := range escapes {
		unit := uint64(0)
		if e[1]-e[0] == 6 {
			unit, _ = strconv.ParseUint(string(data[e[0]+2:e[1]]), 16, 16)
		}
		isLow := unit >= 0xDC00 && unit <= 0xDFFF
		if isLow != (e[0] == high) || high >= 0 && e[0] != high {
			return true
		}
		high = -1
		if unit >= 0xD800 && unit < 0xDC00 {
			high = e[1]
		}
	}
	return high >= 0
}

func hasDuplicate(d *json.Decoder) bool {
	tok, err := d.Token()
	if err != nil {
		return false
	}
	switch tok {
	case json.Delim('['):
		for d.More() {
			if hasDuplicate(d) {
				return true
			}
		}
		d.Token()
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return false
			}
			if seen[key.(string)] {
				return true
			}
			seen[key.(string)] = true
			if hasDuplicate(d) {
				return true
			}
		}
		d.Token()
	}
	return false
}

func FuzzJSONReader(f *testing.F) {
	jsonSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		const depth = 16
		r := canon.NewJSONReader(data, depth)
		r.Skip()
		err := r.End()
		checkError(t, data, err)
		valid := json.Valid(data)
		switch {
		case err == nil && !valid:
			t.Fatalf("accepted %q, which is no JSON", data)
		case err == nil:
			if why := extraRefusals(data, depth); why != "" {
				t.Fatalf("accepted %q in spite of %s", data, why)
			}
		case valid && extraRefusals(data, depth) == "":
			t.Fatalf("refused %q: %v", data, err)
		}
		// The typed decoder must never panic and agree on what is no JSON.
		var q query
		typed := decodeJSON(string(data), func(r *canon.Reader) { q.Decode(r) })
		if typed == nil && err != nil {
			t.Fatalf("typed accepted %q: %v", data, err)
		}
		if typed == nil && len(q.Tags) > 0 && q.Order != "" {
			roundTrip(t, q)
		}
	})
}

// checkError checks what is promised of every error.
func checkError(t *testing.T, data []byte, err error) {
	t.Helper()
	if err == nil {
		return
	}
	e := err.(*canon.Error)
	if e.Offset < 0 || e.Offset > len(data) || e.Code == "" || e.Message == "" ||
		len(e.Path) > 1400 || len(e.Message) > 600 || !utf8.ValidString(e.Error()) || strings.ContainsAny(e.Error(), "\n\r\x00") {
		t.Fatalf("%q: error %#v", data, e)
	}
}

// roundTrip takes a value through both forms and back.
func roundTrip(t *testing.T, q query) {
	t.Helper()
	text := canon.AppendCanonical(nil, &q)
	var a, b query
	if err := decodeJSON(string(text), func(r *canon.Reader) { a.Decode(r) }); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	wire, err := canon.AppendWire(nil, &a)
	if err != nil {
		t.Fatal(err)
	}
	if err := decodeWire(wire, func(r *canon.Reader) { b.Decode(r) }); err != nil {
		t.Fatalf("% x: %v", wire, err)
	}
	if diff := cmp.Diff(q, a, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("JSON: %s", diff)
	}
	if diff := cmp.Diff(a, b, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("wire: %s", diff)
	}
	if again := canon.AppendCanonical(nil, &b); !bytes.Equal(text, again) {
		t.Fatalf("got %s, want %s", again, text)
	}
	if c, err := canon.CanonicalizeJSON(nil, text, maxDepth); err != nil || !bytes.Equal(c, text) {
		t.Fatalf("CanonicalizeJSON: %s, %v; want %s", c, err, text)
	}
}

func FuzzWireReader(f *testing.F) {
	q := goodQuery()
	wire, err := canon.AppendWire(nil, &q)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wire)
	for _, s := range []string{"\xc0", "\x82\xa1a\x01\xa1a\x02", "\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00", "\xdd\xff\xff\xff\xff", "\xd9\x01a", "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "\x91\x91\x91\x90"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const depth = 16
		r := canon.NewWireReader(data, depth)
		r.Skip()
		err := r.End()
		checkError(t, data, err)
		text, _, jsonErr := canon.WireToJSON(nil, data, depth)
		if (err == nil) != (jsonErr == nil) {
			t.Fatalf("% x: Skip says %v, WireToJSON %v", data, err, jsonErr)
		}
		var q query
		if typed := decodeWire(data, func(r *canon.Reader) { q.Decode(r) }); typed == nil && err != nil {
			t.Fatalf("typed accepted % x: %v", data, err)
		}
		if err != nil {
			return
		}
		// An accepted value has one encoding: msgp, from a tree, writes the
		// same bytes again.
		if again, rest := rewrite(t, nil, data); len(rest) > 0 || !bytes.Equal(again, data) {
			t.Fatalf("% x is written as % x", data, again)
		}
		if !json.Valid(text) {
			t.Fatalf("% x gives %s", data, text)
		}
		if r := decodeJSON(string(text), asSkip); r != nil {
			t.Fatalf("% x gives %s: %v", data, text, r)
		}
	})
}

// rewrite reads one value with msgp and writes it again.
func rewrite(t *testing.T, dst, b []byte) (out, rest []byte) {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	switch msgp.NextType(b) {
	case msgp.NilType:
		rest, err := msgp.ReadNilBytes(b)
		check(err)
		return msgp.AppendNil(dst), rest
	case msgp.BoolType:
		v, rest, err := msgp.ReadBoolBytes(b)
		check(err)
		return msgp.AppendBool(dst, v), rest
	case msgp.IntType, msgp.UintType:
		v, rest, err := msgp.ReadInt64Bytes(b)
		check(err)
		return msgp.AppendInt64(dst, v), rest
	case msgp.Float64Type:
		v, rest, err := msgp.ReadFloat64Bytes(b)
		check(err)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatal(v)
		}
		return msgp.AppendFloat64(dst, v), rest
	case msgp.StrType:
		v, rest, err := msgp.ReadStringBytes(b)
		check(err)
		return msgp.AppendString(dst, v), rest
	case msgp.ArrayType:
		n, rest, err := msgp.ReadArrayHeaderBytes(b)
		check(err)
		dst = msgp.AppendArrayHeader(dst, n)
		for range n {
			dst, rest = rewrite(t, dst, rest)
		}
		return dst, rest
	case msgp.MapType:
		n, rest, err := msgp.ReadMapHeaderBytes(b)
		check(err)
		dst = msgp.AppendMapHeader(dst, n)
		for range 2 * n {
			dst, rest = rewrite(t, dst, rest)
		}
		return dst, rest
	}
	t.Fatalf("accepted % x, of a type that is not ours", b)
	return nil, nil
}

func FuzzCanonicalizeJSON(f *testing.F) {
	jsonSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		const depth = 16
		got, err := canon.CanonicalizeJSON(nil, data, depth)
		checkError(t, data, err)
		r := canon.NewJSONReader(data, depth)
		r.Skip()
		if read := r.End(); read != nil && err == nil {
			t.Fatalf("%q: canonicalized in spite of %v", data, read)
		} else if read == nil && err != nil && err.(*canon.Error).Code != canon.CodeRange {
			t.Fatalf("%q: %v", data, err)
		}
		if err != nil {
			return
		}
		want, err := oracle(data)
		if err != nil || want != string(got) {
			t.Fatalf("%q\ngot  %s\nwant %s (%v)", data, got, want, err)
		}
		if again, err := canon.CanonicalizeJSON(nil, got, depth); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%s is no fixed point: %s, %v", got, again, err)
		}
	})
}

// FuzzRoundTrip builds values instead of bytes.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a/b", int64(4), 0.25, true, "go", int64(1<<53-1), "x")
	f.Fuzz(func(t *testing.T, path string, limit int64, ratio float64, deep bool, glob string, id int64, tag string) {
		q := query{Path: path, Limit: limit, Ratio: ratio, Deep: deep, Order: "name",
			Glob: canon.Some(glob), Filter: filter{Owner: path, Ids: []int64{id}}, Tags: []string{tag}}
		if ratio == 0 {
			q.Ratio = 0
		}
		if _, err := canon.AppendWire(nil, &q); err != nil {
			return // the value breaks its schema
		}
		roundTrip(t, q)
	})
}
