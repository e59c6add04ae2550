package canon_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tinylib/msgp/msgp"

	"github.com/capgen/capgen/runtime/canon"
)

func asQuery(r *canon.Reader)  { new(query).Decode(r) }
func asSkip(r *canon.Reader)   { r.Skip() }
func asString(r *canon.Reader) { r.String(0, 1000) }
func asFloat(r *canon.Reader)  { r.Float() }
func asInt(r *canon.Reader)    { r.Int(math.MinInt64, math.MaxInt64) }
func asBool(r *canon.Reader)   { r.Bool() }
func asStrings(r *canon.Reader) {
	r.BeginArray(0, 10)
	for r.NextElement() {
		r.String(0, 10)
	}
}

func TestJSONErrors(t *testing.T) {
	const ok = `"path":"p","filter":{"owner":"o"}`
	long := strings.Repeat("k", 200)
	tests := []struct {
		name, text string
		decode     func(*canon.Reader)
		want       canon.Error
	}{
		{"type", `{"path":1}`, asQuery, wantError("path", canon.CodeType, "expected string, got integer", 8)},
		{"type fraction", `{"path":1.5}`, asQuery, wantError("path", canon.CodeType, "expected string, got number", 8)},
		{"type null", `{"limit":null}`, asQuery, wantError("limit", canon.CodeType, "expected integer, got null", 9)},
		{"type bool is no integer", `{"limit":true}`, asQuery, wantError("limit", canon.CodeType, "expected integer, got boolean", 9)},
		{"type array", `{"filter":[]}`, asQuery, wantError("filter", canon.CodeType, "expected object, got array", 10)},
		{"type object", `{"tags":{}}`, asQuery, wantError("tags", canon.CodeType, "expected array, got object", 8)},
		{"type of the value itself", `[]`, asQuery, wantError("", canon.CodeType, "expected object, got array", 0)},
		{"type number", `{"ratio":"x"}`, asQuery, wantError("ratio", canon.CodeType, "expected number, got string", 9)},
		{"type boolean", `{"deep":0}`, asQuery, wantError("deep", canon.CodeType, "expected boolean, got integer", 8)},
		{"fraction for integer", `{"limit":1.5}`, asQuery, wantError("limit", canon.CodeType, "expected integer, got number", 9)},
		{"nested type", `{"filter":{"ids":[1,"2"]}}`, asQuery, wantError("filter.ids[1]", canon.CodeType, "expected integer, got string", 20)},
		{"missing", `{"filter":{"owner":"o"}}`, asQuery, wantError("path", canon.CodeMissing, "required, but missing", 24)},
		{"missing nested", `{"filter":{}}`, asQuery, wantError("filter.owner", canon.CodeMissing, "required, but missing", 12)},
		{"unknown", `{"nope":1}`, asQuery, wantError("nope", canon.CodeUnknown, "unknown member", 8)},
		{"unknown odd key", `{"a b'\u202e\n":1}`, asQuery, wantError(`['a b\'\u202e\n']`, canon.CodeUnknown, "unknown member", 16)},
		{"unknown long key", `{"` + long + `":1}`, asQuery, wantError("['"+long[:64]+"…']", canon.CodeUnknown, "unknown member", 204)},
		{"duplicate", `{"path":"a","path":"b"}`, asQuery, wantError("path", canon.CodeDuplicate, "given twice", 19)},
		{"duplicate under an escape", `{"path":"a","pa\u0074h":"b"}`, asQuery, wantError("path", canon.CodeDuplicate, "given twice", 24)},
		{"range", `{"limit":0}`, asQuery, wantError("limit", canon.CodeRange, "expected an integer from 1 to 100, got 0", 9)},
		{"range above", `{"limit": 102}`, asQuery, wantError("limit", canon.CodeRange, "expected an integer from 1 to 100, got 102", 10)},
		{"range 64 bits", `{"limit":9223372036854775808}`, asQuery, wantError("limit", canon.CodeRange, "expected an integer from 1 to 100, got 9223372036854775808", 9)},
		{"range exponent bomb", `{"limit":1e999999999999999999999999}`, asQuery, wantError("limit", canon.CodeRange, "expected an integer from 1 to 100, got 1e999999999999999999999999", 9)},
		{"integer multiple", `{"limit":7}`, asQuery, wantError("limit", canon.CodeRange, "expected a multiple of 2, got 7", 9)},
		{"float overflow", `{"ratio":1e400}`, asQuery, wantError("ratio", canon.CodeRange, "expected a number in the range of a 64-bit float, got 1e400", 9)},
		{"float at least", `{"ratio":-1.1}`, asQuery, wantError("ratio", canon.CodeRange, "expected at least -1, got -1.1", 9)},
		{"float below", `{"ratio":10}`, asQuery, wantError("ratio", canon.CodeRange, "expected less than 10, got 10", 9)},
		{"float multiple", `{"ratio":0.35}`, asQuery, wantError("ratio", canon.CodeRange, "expected a multiple of 0.1, got 0.35", 9)},
		{"length empty", `{"path":""}`, asQuery, wantError("path", canon.CodeLength, "expected at least 1 character, got 0", 8)},
		{"length long", `{"path":"` + strings.Repeat("é", 21) + `"}`, asQuery, wantError("path", canon.CodeLength, "expected at most 20 characters, got 21", 8)},
		{"items few", `{"tags":[]}`, asQuery, wantError("tags", canon.CodeLength, "expected at least 1 item, got 0", 10)},
		{"items many", `{"tags":["a","b","c","d"]}`, asQuery, wantError("tags", canon.CodeLength, "expected at most 3 items, got more", 21)},
		{"element length", `{"tags":["a","bbbbbb"]}`, asQuery, wantError("tags[1]", canon.CodeLength, "expected at most 5 characters, got 6", 13)},
		{"pattern", `{"glob":"A"}`, asQuery, wantError("glob", canon.CodePattern, "expected a match of the pattern ^[a-z]+$", 8)},
		{"enum", `{"order":"date\""}`, asQuery, wantError("order", canon.CodeEnum, `expected one of "name", "size", got "date\""`, 9)},
		{"trailing", `{` + ok + `} 1`, asQuery, wantError("", canon.CodeSyntax, "unexpected data after the value", 36)},

		{"empty", ``, asSkip, wantError("", canon.CodeSyntax, "unexpected end of input", 0)},
		{"blank", " \t\r\n", asSkip, wantError("", canon.CodeSyntax, "unexpected end of input", 4)},
		{"byte order mark", "\xef\xbb\xbf1", asSkip, wantError("", canon.CodeSyntax, "byte order mark before the value", 0)},
		{"other space", "\f1", asSkip, wantError("", canon.CodeSyntax, "unexpected byte 0x0c", 0)},
		{"literal", `nul`, asSkip, wantError("", canon.CodeSyntax, "expected the literal null", 0)},
		{"literal tail", `truex`, asBool, wantError("", canon.CodeSyntax, "unexpected data after the value", 4)},
		{"leading zero", `-01`, asSkip, wantError("", canon.CodeSyntax, "malformed number", 2)},
		{"leading plus", `+1`, asFloat, wantError("", canon.CodeSyntax, "unexpected '+'", 0)},
		{"no digit after point", `1.`, asFloat, wantError("", canon.CodeSyntax, "malformed number", 2)},
		{"no digit before point", `.5`, asFloat, wantError("", canon.CodeSyntax, "unexpected '.'", 0)},
		{"no exponent", `1e+`, asInt, wantError("", canon.CodeSyntax, "malformed number", 3)},
		{"hexadecimal", `0x1F`, asInt, wantError("", canon.CodeSyntax, "malformed number", 1)},
		{"underscore", `1_000`, asInt, wantError("", canon.CodeSyntax, "malformed number", 1)},
		{"minus alone", `-`, asInt, wantError("", canon.CodeSyntax, "malformed number", 1)},
		{"not a number", `NaN`, asFloat, wantError("", canon.CodeSyntax, "unexpected 'N'", 0)},
		{"malformed number of another kind", `01`, asString, wantError("", canon.CodeSyntax, "malformed number", 1)},
		{"open string", `"abc`, asString, wantError("", canon.CodeSyntax, "string without closing quote", 4)},
		{"open escape", `"abc\`, asString, wantError("", canon.CodeSyntax, "string without closing quote", 4)},
		{"last control character", "\"a\x1f\"", asString, wantError("", canon.CodeSyntax, "unescaped control character in a string", 2)},
		{"high surrogate before a character above them", `"\ud800\uffff"`, asString, wantError("", canon.CodeSyntax, "half a surrogate pair in a string", 1)},
		{"two low surrogates", `"\udc00\udc00"`, asString, wantError("", canon.CodeSyntax, "half a surrogate pair in a string", 1)},
		{"high surrogate before another escape", `"\ud800\n"`, asString, wantError("", canon.CodeSyntax, "half a surrogate pair in a string", 1)},
		{"control character", "\"a\x01\"", asString, wantError("", canon.CodeSyntax, "unescaped control character in a string", 2)},
		{"unknown escape", `"\x41"`, asString, wantError("", canon.CodeSyntax, "unknown escape in a string", 1)},
		{"short escape", `"\u12"`, asString, wantError("", canon.CodeSyntax, `\u needs four hexadecimal digits`, 1)},
		{"high surrogate", `"\ud800"`, asString, wantError("", canon.CodeSyntax, "half a surrogate pair in a string", 1)},
		{"low surrogate", `"\udc00"`, asString, wantError("", canon.CodeSyntax, "half a surrogate pair in a string", 1)},
		{"two high surrogates", `"\ud800\ud800"`, asString, wantError("", canon.CodeSyntax, "half a surrogate pair in a string", 1)},
		{"raw surrogate", "\"\xed\xa0\x80\"", asString, wantError("", canon.CodeSyntax, "invalid UTF-8 in a string", 1)},
		{"bad UTF-8", "\"\xff\"", asString, wantError("", canon.CodeSyntax, "invalid UTF-8 in a string", 1)},
		{"overlong UTF-8", "\"\xc0\x80\"", asString, wantError("", canon.CodeSyntax, "invalid UTF-8 in a string", 1)},
		{"bad UTF-8 in a key", "{\"\xff\":1}", asSkip, wantError("", canon.CodeSyntax, "invalid UTF-8 in a string", 2)},
		{"key no string", `{1:1}`, asSkip, wantError("", canon.CodeSyntax, "unexpected '1'", 1)},
		{"no colon", `{"a" 1}`, asSkip, wantError("a", canon.CodeSyntax, "unexpected '1'", 5)},
		{"no value", `{"a":}`, asSkip, wantError("a", canon.CodeSyntax, "unexpected '}'", 5)},
		{"trailing comma in object", `{"a":1,}`, asSkip, wantError("", canon.CodeSyntax, "unexpected '}'", 7)},
		{"trailing comma in array", `[1,]`, asSkip, wantError("[1]", canon.CodeSyntax, "unexpected ']'", 3)},
		{"leading comma", `[,1]`, asSkip, wantError("[0]", canon.CodeSyntax, "unexpected ','", 1)},
		{"no comma", `["a" "b"]`, asStrings, wantError("[0]", canon.CodeSyntax, `unexpected '"'`, 5)},
		{"wrong bracket", `[1}`, asSkip, wantError("[0]", canon.CodeSyntax, "unexpected '}'", 2)},
		{"open array", `[1`, asSkip, wantError("[0]", canon.CodeSyntax, "unexpected end of input", 2)},
		{"open object", `{"a":1`, asSkip, wantError("a", canon.CodeSyntax, "unexpected end of input", 6)},
		{"comment", `/**/1`, asSkip, wantError("", canon.CodeSyntax, "unexpected '/'", 0)},
		{"depth", strings.Repeat("[", 33) + strings.Repeat("]", 33), asSkip, wantError(strings.Repeat("[0]", 32), canon.CodeDepth, "nested deeper than 32 levels", 32)},
		{"duplicate opaque", `[{"a":{"x":1,"y":{"x":0},"\u0078":2}}]`, asSkip, wantError("[0].a.x", canon.CodeDuplicate, "given twice", 34)},
		{"first of two duplicates", `{"a":1,"b":1,"a":2,"b":2}`, asSkip, wantError("a", canon.CodeDuplicate, "given twice", 17)},
		{"duplicate opaque empty key", `{"":1,"":2}`, asSkip, wantError("['']", canon.CodeDuplicate, "given twice", 9)},
		{"opaque overflow", `[-1e309]`, asSkip, wantError("[0]", canon.CodeRange, "expected a number in the range of a 64-bit float, got -1e309", 1)},
		{"opaque overflow without exponent", "1" + strings.Repeat("0", 309), asSkip, wantError("", canon.CodeRange, "expected a number in the range of a 64-bit float, got 1"+strings.Repeat("0", 31)+"…", 0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := decodeJSON(tt.text, tt.decode)
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.text, diff)
			}
		})
	}
}

func TestWireErrors(t *testing.T) {
	str := func(b []byte, s string) []byte { return msgp.AppendString(b, s) }
	member := func(key string, value ...byte) []byte {
		return append(str([]byte{0x81}, key), value...)
	}
	long := strings.Repeat("a", 32)
	tests := []struct {
		name   string
		wire   []byte
		decode func(*canon.Reader)
		want   canon.Error
	}{
		{"type", member("path", 1), asQuery, wantError("path", canon.CodeType, "expected string, got integer", 6)},
		{"float for integer", member("limit", msgp.AppendFloat64(nil, 2)...), asQuery, wantError("limit", canon.CodeType, "expected integer, got number", 7)},
		{"bool for integer", member("limit", 0xC3), asQuery, wantError("limit", canon.CodeType, "expected integer, got boolean", 7)},
		{"null", member("limit", 0xC0), asQuery, wantError("limit", canon.CodeType, "expected integer, got null", 7)},
		{"range", member("limit", 0), asQuery, wantError("limit", canon.CodeRange, "expected an integer from 1 to 100, got 0", 7)},
		{"missing", []byte{0x80}, asQuery, wantError("path", canon.CodeMissing, "required, but missing", 1)},
		{"unknown", member("nope", 1), asQuery, wantError("nope", canon.CodeUnknown, "unknown member", 6)},
		{"duplicate", append(str(append(str([]byte{0x82}, "limit"), 2), "limit"), 2), asQuery, wantError("limit", canon.CodeDuplicate, "given twice", 14)},
		{"length", member("path", 0xA0), asQuery, wantError("path", canon.CodeLength, "expected at least 1 character, got 0", 6)},
		{"length long", member("path", str(nil, strings.Repeat("é", 21))...), asQuery, wantError("path", canon.CodeLength, "expected at most 20 characters, got 21", 6)},
		{"items few", member("tags", 0x90), asQuery, wantError("tags", canon.CodeLength, "expected at least 1 item, got 0", 6)},
		{"items many", member("tags", 0x94, 0, 0, 0, 0), asQuery, wantError("tags", canon.CodeLength, "expected at most 3 items, got 4", 6)},
		{"pattern", member("glob", 0xA1, 'A'), asQuery, wantError("glob", canon.CodePattern, "expected a match of the pattern ^[a-z]+$", 6)},
		{"enum", member("order", 0xA1, 'A'), asQuery, wantError("order", canon.CodeEnum, `expected one of "name", "size", got "A"`, 7)},
		{"not finite", msgp.AppendFloat64(nil, math.Inf(-1)), asFloat, wantError("", canon.CodeRange, "expected a finite number, got infinity", 0)},
		{"not a number", msgp.AppendFloat64(nil, math.NaN()), asSkip, wantError("", canon.CodeRange, "expected a finite number, got NaN", 0)},
		{"integer no float", msgp.AppendInt64(nil, 1<<53+1), asFloat, wantError("", canon.CodeRange, "integer 9007199254740993 is no 64-bit float exactly", 0)},
		{"largest integer no float", msgp.AppendInt64(nil, math.MaxInt64), asFloat, wantError("", canon.CodeRange, "integer 9223372036854775807 is no 64-bit float exactly", 0)},
		{"trailing", []byte{1, 1}, asInt, wantError("", canon.CodeSyntax, "unexpected data after the value", 1)},
		{"empty", nil, asSkip, wantError("", canon.CodeSyntax, "unexpected end of input", 0)},
		{"empty for integer", nil, asInt, wantError("", canon.CodeSyntax, "unexpected end of input", 0)},
		{"depth", bytes.Repeat([]byte{0x91}, 33), asSkip, wantError(strings.Repeat("[0]", 32), canon.CodeDepth, "nested deeper than 32 levels", 32)},
		{"duplicate opaque", []byte{0x82, 0xA1, 'a', 1, 0xA1, 'a', 2}, asSkip, wantError("a", canon.CodeDuplicate, "given twice", 6)},

		{"unused byte", []byte{0xC1}, asSkip, wantError("", canon.CodeSyntax, "unused type byte on the wire", 0)},
		{"binary", []byte{0xC4, 0}, asString, wantError("", canon.CodeSyntax, "binary on the wire", 0)},
		{"float32", []byte{0xCA, 0, 0, 0, 0}, asFloat, wantError("", canon.CodeSyntax, "32-bit float on the wire", 0)},
		{"fixed extension", []byte{0xD4, 1, 0}, asSkip, wantError("", canon.CodeSyntax, "extension on the wire", 0)},
		{"extension", []byte{0xC7, 0, 1}, asSkip, wantError("", canon.CodeSyntax, "extension on the wire", 0)},
		{"uint8", []byte{0xCC, 200}, asInt, wantError("", canon.CodeSyntax, "unsigned integer form on the wire", 0)},
		{"uint64", []byte{0xCF, 255, 255, 255, 255, 255, 255, 255, 255}, asSkip, wantError("", canon.CodeSyntax, "unsigned integer form on the wire", 0)},
		{"uint64 for float", []byte{0xCF, 255, 255, 255, 255, 255, 255, 255, 255}, asFloat, wantError("", canon.CodeSyntax, "unsigned integer form on the wire", 0)},
		{"wide int8", []byte{0xD0, 1}, asInt, wantError("", canon.CodeSyntax, "non-minimal form on the wire", 0)},
		{"wide negative int8", []byte{0xD0, 0xE0}, asInt, wantError("", canon.CodeSyntax, "non-minimal form on the wire", 0)},
		{"wide int16", []byte{0xD1, 0xFF, 0x80}, asInt, wantError("", canon.CodeSyntax, "non-minimal form on the wire", 0)},
		{"wide int64", []byte{0xD3, 0, 0, 0, 0, 0x7F, 255, 255, 255}, asInt, wantError("", canon.CodeSyntax, "non-minimal form on the wire", 0)},
		{"wide str8", append([]byte{0xD9, 31}, long[:31]...), asString, wantError("", canon.CodeSyntax, "non-minimal form on the wire", 0)},
		{"wide str16", append([]byte{0xDA, 0, 32}, long...), asString, wantError("", canon.CodeSyntax, "non-minimal form on the wire", 0)},
		{"wide str32", append([]byte{0xDB, 0, 0, 0, 32}, long...), asString, wantError("", canon.CodeSyntax, "non-minimal form on the wire", 0)},
		{"wide array16", []byte{0xDC, 0, 1, 1}, asSkip, wantError("", canon.CodeSyntax, "non-minimal form on the wire", 0)},
		{"wide map16", []byte{0xDE, 0, 0}, asSkip, wantError("", canon.CodeSyntax, "non-minimal form on the wire", 0)},
		{"wide array32", []byte{0xDD, 0, 0, 0, 1, 1}, asSkip, wantError("", canon.CodeSyntax, "non-minimal form on the wire", 0)},
		{"array promises too much", []byte{0xDD, 255, 255, 255, 255, 1}, asSkip, wantError("", canon.CodeSyntax, "truncated value on the wire", 0)},
		{"map promises too much", []byte{0xDF, 255, 255, 255, 255, 1}, asSkip, wantError("", canon.CodeSyntax, "truncated value on the wire", 0)},
		{"map promises one byte too much", []byte{0x81, 0xA0}, asSkip, wantError("", canon.CodeSyntax, "truncated value on the wire", 0)},
		{"string promises too much", []byte{0xDB, 255, 255, 255, 255, 'a'}, asString, wantError("", canon.CodeSyntax, "truncated value on the wire", 0)},
		{"truncated integer", []byte{0xD3, 1}, asInt, wantError("", canon.CodeSyntax, "truncated value on the wire", 0)},
		{"truncated float", []byte{0xCB, 1}, asFloat, wantError("", canon.CodeSyntax, "truncated value on the wire", 0)},
		{"bad UTF-8", []byte{0xA1, 0xFF}, asString, wantError("", canon.CodeSyntax, "invalid UTF-8 in a string", 0)},
		{"bad UTF-8 in a key", []byte{0x81, 0xA1, 0xFF, 1}, asSkip, wantError("", canon.CodeSyntax, "invalid UTF-8 in a string", 1)},
		{"key no string", []byte{0x81, 1, 1}, asSkip, wantError("", canon.CodeSyntax, "object key on the wire that is not a string", 1)},
		{"key binary", []byte{0x81, 0xC4, 0, 1}, asSkip, wantError("", canon.CodeSyntax, "object key on the wire that is not a string", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := decodeWire(tt.wire, tt.decode)
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("% x (-want +got)\n%s", tt.wire, diff)
			}
		})
	}
}

func TestReaderAccepts(t *testing.T) {
	text := ` { "filter" : {"owner":"","ids":[1.0,1e2,100e-2,-0,0e999999999,10000000000000000000000e-22]},
		"tags":["\u00e9\ud83d\ude00\u0000"], "p\u0061th":"\"\\\/\b\f\n\r\t", "ratio":-0.0, "limit":2e1 }` + "\n"
	var got query
	if err := decodeJSON(text, func(r *canon.Reader) { got.Decode(r) }); err != nil {
		t.Fatal(err)
	}
	want := query{
		Path: "\"\\/\b\f\n\r\t", Limit: 20,
		Filter: filter{Ids: []int64{1, 100, 1, 0, 0, 1}},
		Tags:   []string{"é😀\x00"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if math.Signbit(got.Ratio) {
		t.Error("the sign of zero was kept")
	}
}

// The wire takes an integer where a number is asked for, if it is one exactly,
// and counts characters, not bytes.
func TestWireAccepts(t *testing.T) {
	for _, v := range []int64{0, -1, 1 << 53, -1 << 53, 1 << 62, math.MinInt64} {
		r := canon.NewWireReader(msgp.AppendInt64(nil, v), 0)
		if got := r.Float(); got != float64(v) || r.End() != nil {
			t.Errorf("%d: got %v, %v", v, got, r.Err())
		}
	}
	text := strings.Repeat("é", 20)
	r := canon.NewWireReader(msgp.AppendString(nil, text), 0)
	if got := r.String(20, 20); got != text || r.End() != nil {
		t.Errorf("got %q, %v", got, r.Err())
	}
}

func TestReaderSticks(t *testing.T) {
	r := canon.NewJSONReader([]byte(`{"a":1,"b":2}`), 4)
	r.BeginObject()
	r.NextMember()
	r.String(0, 1)
	first := r.Err()
	if first == nil || r.NextMember() || r.NextElement() || r.Int(0, 9) != 0 || r.Float() != 0 ||
		r.Bool() || r.Null() || r.String(0, 9) != "" || r.Enum("") != "" || r.RawNumber() != "" ||
		r.Key() != nil || r.Peek() != canon.KindInvalid {
		t.Errorf("a call after %v did something", first)
	}
	r.Skip()
	r.Fail(canon.CodeRange, "later")
	r.UnknownMember()
	r.Match("", lowercase)
	r.AtLeast(0, 1)
	r.IntMultipleOf(1, 2)
	var seen canon.Seen
	r.Require(&seen, 0, "x")
	if r.Err() != first || r.End() != first {
		t.Errorf("got %v, want the first error %v", r.Err(), first)
	}
}

// A decoder that skips calls must get an error, not the wrong bytes.
func TestReaderMisuse(t *testing.T) {
	forms := map[string]func() *canon.Reader{
		"json": func() *canon.Reader { return canon.NewJSONReader([]byte(`[[1,2],3]`), 4) },
		"wire": func() *canon.Reader { return canon.NewWireReader([]byte{0x92, 0x92, 1, 2, 3}, 4) },
	}
	uses := map[string]struct {
		run  func(*canon.Reader)
		want string
	}{
		"nothing read":         {func(r *canon.Reader) {}, "the value was not read to its end"},
		"left early":           {func(r *canon.Reader) { r.BeginArray(0, 9); r.NextElement(); r.Skip() }, "[0]: the value was not read to its end"},
		"element not read":     {func(r *canon.Reader) { r.BeginArray(0, 9); r.NextElement(); r.NextElement() }, "[0]: decoder error: a value was not read"},
		"members of an array":  {func(r *canon.Reader) { r.BeginArray(0, 9); r.NextMember() }, "decoder error: members of an array, or elements of an object"},
		"value twice":          {func(r *canon.Reader) { r.Skip(); r.Bool() }, "decoder error: no value stands here"},
		"no NextElement":       {func(r *canon.Reader) { r.BeginArray(0, 9); r.Skip() }, "decoder error: no value stands here"},
		"element without open": {func(r *canon.Reader) { r.NextElement() }, "decoder error: a value was not read"},
		"element after all":    {func(r *canon.Reader) { r.Skip(); r.NextElement() }, "decoder error: a value was not read"},
	}
	for form, open := range forms {
		for use, tt := range uses {
			r := open()
			tt.run(r)
			if err := r.End(); err == nil || err.Error() != tt.want {
				t.Errorf("%s: %s: got %v, want %s", form, use, err, tt.want)
			}
		}
	}
}

func TestPeekAndOffset(t *testing.T) {
	r := canon.NewJSONReader([]byte(` [ null , true , 1 , "s" , [ ] , { } ]`), 4)
	if r.Offset() != 1 || r.Peek() != canon.KindArray {
		t.Errorf("got %v at %d", r.Peek(), r.Offset())
	}
	r.BeginArray(0, 9)
	want := []canon.Kind{canon.KindNull, canon.KindBool, canon.KindNumber, canon.KindString, canon.KindArray, canon.KindObject}
	var got []canon.Kind
	for r.NextElement() {
		got = append(got, r.Peek())
		if r.Null() != (len(got) == 1) {
			t.Errorf("element %d: Null took it, or did not", len(got))
		}
		if len(got) > 1 {
			r.Skip()
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || r.End() != nil {
		t.Error(diff, r.End())
	}
	w := canon.NewWireReader(append([]byte{0x92, 5}, msgp.AppendFloat64(nil, 1.5)...), 1)
	w.BeginArray(2, 2)
	for i, want := range []struct {
		kind   canon.Kind
		offset int
		text   string
	}{{canon.KindInt, 1, "5"}, {canon.KindFloat, 2, "1.5"}} {
		if !w.NextElement() || w.Peek() != want.kind || w.Offset() != want.offset || w.RawNumber() != want.text {
			t.Errorf("element %d: %v", i, w.Err())
		}
	}
	if w.NextElement() || w.End() != nil {
		t.Error(w.Err())
	}
}

func TestSignedFloatKeepsZero(t *testing.T) {
	r := canon.NewWireReader(msgp.AppendFloat64(nil, math.Copysign(0, -1)), 0)
	if v := r.SignedFloat(); v != 0 || !math.Signbit(v) || r.End() != nil {
		t.Errorf("got %v, %v", v, r.Err())
	}
	r = canon.NewJSONReader([]byte("-0.0"), 0)
	if v := r.SignedFloat(); v != 0 || !math.Signbit(v) || r.End() != nil {
		t.Errorf("got %v, %v", v, r.Err())
	}
}

func TestSeenIsBounded(t *testing.T) {
	var s canon.Seen
	r := canon.NewJSONReader([]byte("1"), 0)
	s.Mark(r, 255)
	if r.Err() != nil || !s.Has(255) || s.Has(254) || s.Has(-1) || s.Has(256) {
		t.Error("members 0 to 255 are to be told apart")
	}
	s.Mark(r, 256)
	if r.Err() == nil {
		t.Error("member 256 was marked")
	}
}

// Long and deep paths are cut.
func TestPathIsBounded(t *testing.T) {
	const levels = 500
	text := strings.Repeat(`{"kkkkkkkkkkkkkkkkkkkkk":`, levels) + "x"
	r := canon.NewJSONReader([]byte(text), levels)
	r.Skip()
	err := r.End().(*canon.Error)
	if len(err.Path) > 1200 || !strings.HasSuffix(err.Path, "…") {
		t.Errorf("a path of %d bytes: %s", len(err.Path), err.Path)
	}
}
