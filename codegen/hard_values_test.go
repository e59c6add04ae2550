package codegen_test

import (
	"strings"
	"testing"
)

// Each hard value comes as JSON text into the generated decoder, and from a
// program through worker and host. A row says what each makes of it: canonical
// bytes (of the member named, beside must and the default), or path and
// message after "refused: ". A row without json is of what JSON cannot say.
func TestHardValues(t *testing.T) {
	const mebi = 1 << 20
	s := newHardServer(t)
	for _, row := range []struct{ name, json, fromJSON, program, fromProgram string }{
		{
			"minus zero, number",
			`"number":-0.0`, `{"number":0}`,
			`number=-0.0`, `{"number":0}`,
		},
		{
			"minus zero, integer",
			`"int":-0`, `{"int":0}`,
			`int=-0`, `{"int":0}`,
		},
		{
			"minus zero, integer as a float",
			`"int":-0.0`, `{"int":0}`,
			`int=-0.0`, `refused: int: expected int, got float`,
		},
		{
			"minus zero, wide",
			`"wide":"-0"`, `refused: wide: expected the decimal digits of an integer, got "-0"`,
			`wide=-0`, `{"wide":"0"}`,
		},
		{
			"minus zero, anything",
			`"any":[-0.0]`, `{"any":[0]}`,
			`any=[-0.0]`, `{"any":[0]}`,
		},
		{
			"minus zero, free",
			`"free":{"x":-0.0}`, `{"free":{"x":0}}`,
			`free={"x": -0.0}`, `{"free":{"x":0}}`,
		},
		{
			"NaN, number",
			`"number":NaN`, `refused: number: unexpected 'N'`,
			`number=float("nan")`, `refused: number: expected a finite number, got NaN`,
		},
		{
			"NaN, anything",
			`"any":NaN`, `refused: any: unexpected 'N'`,
			`any=[float("nan")]`, `refused: any[0]: expected a finite number, got NaN`,
		},
		{
			"infinity, number",
			`"number":Infinity`, `refused: number: unexpected 'I'`,
			`number=float("inf")`, `refused: number: expected a finite number, got infinity`,
		},
		{
			"minus infinity, number",
			`"number":-Infinity`, `refused: number: malformed number`,
			`number=float("-inf")`, `refused: number: expected a finite number, got infinity`,
		},
		{
			"infinity, integer",
			`"int":Infinity`, `refused: int: unexpected 'I'`,
			`int=float("inf")`, `refused: int: expected int, got float`,
		},
		{
			"infinity, free",
			`"free":{"x":Infinity}`, `refused: free.x: unexpected 'I'`,
			`free={"x": float("inf")}`, `refused: free.x: expected a finite number, got infinity`,
		},
		{
			"1e400, number",
			`"number":1e400`, `refused: number: expected a number in the range of a 64-bit float, got 1e400`,
			`number=1e400`, `refused: number: expected a finite number, got infinity`,
		},
		{
			"1e400, integer",
			`"int":1e400`, `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got 1e400`,
			`int=1e400`, `refused: int: expected int, got float`,
		},
		{
			"1e400, anything",
			`"any":1e400`, `refused: any: expected a number in the range of a 64-bit float, got 1e400`,
			`any=1e400`, `refused: any: expected a finite number, got infinity`,
		},
		{
			"10**400, number",
			`"number":1` + strings.Repeat("0", 400), `refused: number: expected a number in the range of a 64-bit float, got 10000000000000000000000000000000…`,
			`number=int("1" + "0" * 400)`, `refused: number: the int cannot be a float without rounding`,
		},
		{
			"10**400, integer",
			`"int":1` + strings.Repeat("0", 400), `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got 10000000000000000000000000000000…`,
			`int=int("1" + "0" * 400)`, `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got one beyond 64 bits`,
		},
		{
			"1e-400, number",
			`"number":1e-400`, `{"number":0}`,
			`number=1e-400`, `{"number":0}`,
		},
		{
			"1.0 for integer",
			`"int":1.0`, `{"int":1}`,
			`int=1.0`, `refused: int: expected int, got float`,
		},
		{
			"1e2 for integer",
			`"int":1e2`, `{"int":100}`,
			`int=1e2`, `refused: int: expected int, got float`,
		},
		{
			"1.5 for integer",
			`"int":1.5`, `refused: int: expected integer, got number`,
			`int=1.5`, `refused: int: expected int, got float`,
		},
		{
			"1.0 for wide",
			`"wide":1.0`, `refused: wide: expected string, got number`,
			`wide=1.0`, `refused: wide: expected int, got float`,
		},
		{
			"1.0 in a list",
			`"list":[1,1.0]`, `{"list":[1,1]}`,
			`list=[1, 1.0]`, `refused: list[1]: expected int, got float`,
		},
		{
			"1.0 in a map",
			`"map":{"a":1.0}`, `{"map":{"a":1}}`,
			`map={"a": 1.0}`, `refused: map['a']: expected int, got float`,
		},
		{
			"1.0 in a union",
			`"union":1.0`, `{"union":1}`,
			`union=1.0`, `refused: union: expected int, got float`,
		},
		{
			"1.0 for anything",
			`"any":1.0`, `{"any":1}`,
			`any=1.0`, `{"any":1}`,
		},
		{
			"1 for number",
			`"number":1`, `{"number":1}`,
			`number=1`, `{"number":1}`,
		},
		{
			"true for integer",
			`"int":true`, `refused: int: expected integer, got boolean`,
			`int=True`, `refused: int: expected int, got bool`,
		},
		{
			"true for wide",
			`"wide":true`, `refused: wide: expected string, got boolean`,
			`wide=True`, `refused: wide: expected int, got bool`,
		},
		{
			"true for number",
			`"number":true`, `refused: number: expected number, got boolean`,
			`number=True`, `refused: number: expected float, got bool`,
		},
		{
			"true in a list",
			`"list":[true]`, `refused: list[0]: expected integer, got boolean`,
			`list=[True]`, `refused: list[0]: expected int, got bool`,
		},
		{
			"true in a union",
			`"union":true`, `refused: union: expected number or string, got boolean`,
			`union=True`, `refused: union: expected int | str, got bool`,
		},
		{
			"1 for boolean",
			`"flag":1`, `refused: flag: expected boolean, got integer`,
			`flag=1`, `refused: flag: expected bool, got int`,
		},
		{
			"text for integer",
			`"int":"1"`, `refused: int: expected integer, got string`,
			`int="1"`, `refused: int: expected int, got str`,
		},
		{
			"2^53-1, integer",
			`"int":9007199254740991`, `{"int":9007199254740991}`,
			`int=(1 << 53) - 1`, `{"int":9007199254740991}`,
		},
		{
			"2^53, integer",
			`"int":9007199254740992`, `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740992`,
			`int=1 << 53`, `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740992`,
		},
		{
			"2^53+1, integer",
			`"int":9007199254740993`, `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740993`,
			`int=(1 << 53) + 1`, `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740993`,
		},
		{
			"-2^53+1, integer",
			`"int":-9007199254740991`, `{"int":-9007199254740991}`,
			`int=1 - (1 << 53)`, `{"int":-9007199254740991}`,
		},
		{
			"-2^53-1, integer",
			`"int":-9007199254740993`, `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got -9007199254740993`,
			`int=-1 - (1 << 53)`, `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got -9007199254740993`,
		},
		{
			"2^53+1, number",
			`"number":9007199254740993`, `{"number":9007199254740992}`,
			`number=(1 << 53) + 1`, `refused: number: the int cannot be a float without rounding`,
		},
		{
			"2^53, number",
			`"number":9007199254740992`, `{"number":9007199254740992}`,
			`number=1 << 53`, `{"number":9007199254740992}`,
		},
		{
			"2^53-1, wide",
			`"wide":"9007199254740991"`, `{"wide":"9007199254740991"}`,
			`wide=(1 << 53) - 1`, `{"wide":"9007199254740991"}`,
		},
		{
			"2^53+1, wide",
			`"wide":"9007199254740993"`, `{"wide":"9007199254740993"}`,
			`wide=(1 << 53) + 1`, `{"wide":"9007199254740993"}`,
		},
		{
			"-2^53-1, wide",
			`"wide":"-9007199254740993"`, `{"wide":"-9007199254740993"}`,
			`wide=-1 - (1 << 53)`, `{"wide":"-9007199254740993"}`,
		},
		{
			"2^63-1, wide",
			`"wide":"9223372036854775807"`, `{"wide":"9223372036854775807"}`,
			`wide=(1 << 63) - 1`, `{"wide":"9223372036854775807"}`,
		},
		{
			"2^63, wide",
			`"wide":"9223372036854775808"`, `refused: wide: expected an integer from -9223372036854775808 to 9223372036854775807, got 9223372036854775808`,
			`wide=1 << 63`, `refused: wide: expected an integer from -9223372036854775808 to 9223372036854775807, got one beyond 64 bits`,
		},
		{
			"-2^63, wide",
			`"wide":"-9223372036854775808"`, `{"wide":"-9223372036854775808"}`,
			`wide=-1 << 63`, `{"wide":"-9223372036854775808"}`,
		},
		{
			"-2^63-1, wide",
			`"wide":"-9223372036854775809"`, `refused: wide: expected an integer from -9223372036854775808 to 9223372036854775807, got -9223372036854775809`,
			`wide=(-1 << 63) - 1`, `refused: wide: expected an integer from -9223372036854775808 to 9223372036854775807, got one beyond 64 bits`,
		},
		{
			"number for wide",
			`"wide":1`, `refused: wide: expected string, got integer`,
			`wide=1`, `{"wide":"1"}`,
		},
		{
			"2^63, integer",
			`"int":9223372036854775808`, `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got 9223372036854775808`,
			`int=1 << 63`, `refused: int: expected an integer from -9007199254740991 to 9007199254740991, got one beyond 64 bits`,
		},
		{
			"2^63, number",
			`"number":9223372036854775808`, `{"number":9223372036854776000}`,
			`number=1 << 63`, `{"number":9223372036854776000}`,
		},
		{
			"-2^63, number",
			`"number":-9223372036854775808`, `{"number":-9223372036854776000}`,
			`number=-1 << 63`, `{"number":-9223372036854776000}`,
		},
		{
			"2^53+1, anything",
			`"any":9007199254740993`, `refused: any: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740993`,
			`any=(1 << 53) + 1`, `refused: any: expected an integer from -9007199254740991 to 9007199254740991, as JSON keeps exactly`,
		},
		{
			"2^53+1, map",
			`"map":{"a":9007199254740993}`, `refused: map['a']: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740993`,
			`map={"a": (1 << 53) + 1}`, `refused: map['a']: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740993`,
		},
		{
			"2^63, free",
			`"free":{"a":9223372036854775808}`, `refused: free.a: expected an integer from -9007199254740991 to 9007199254740991, got 9223372036854775808`,
			`free={"a": 1 << 63}`, `refused: free.a: expected an integer from -9007199254740991 to 9007199254740991, as JSON keeps exactly`,
		},
		{
			"2^53+1, union",
			`"union":9007199254740993`, `refused: union: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740993`,
			`union=(1 << 53) + 1`, `refused: union: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740993`,
		},
		{
			"lone surrogate, string",
			`"text":"\ud800"`, `refused: text: half a surrogate pair in a string`,
			`text="\ud800"`, `refused: : U+D800 is no character`,
		},
		{
			"lone low surrogate, string",
			`"text":"\udc00x"`, `refused: text: half a surrogate pair in a string`,
			`text="\udc00x"`, `refused: : U+DC00 is no character`,
		},
		{
			"lone surrogate, key",
			`"map":{"\ud800":1}`, `refused: map: half a surrogate pair in a string`,
			`map={"\ud800": 1}`, `refused: : U+D800 is no character`,
		},
		{
			"pair of surrogates",
			`"text":"\ud83d\ude00"`, `{"text":"😀"}`,
			`text="\U0001F600"`, `{"text":"😀"}`,
		},
		{
			"half of a character, string",
			`"text":"` + "\xc3" + `"`, `refused: text: invalid UTF-8 in a string`,
			`text=b"\xc3".decode()`, `refused: : UnicodeDecodeError: 'utf-8' codec can't decode byte 0xc3 in position 0: unexpected end of data`,
		},
		{
			"half of a character, key",
			`"map":{"` + "\xc3" + `":1}`, `refused: map: invalid UTF-8 in a string`,
			`map={"éa"[:1]: 1}`, `{"map":{"é":1}}`,
		},
		{
			"half of a character, anything",
			`"any":["` + "\xc3" + `"]`, `refused: any[0]: invalid UTF-8 in a string`,
			`any=["éa"[:1]]`, `{"any":["é"]}`,
		},
		{
			"half of a character, union",
			`"union":"` + "\xc3" + `"`, `refused: union: invalid UTF-8 in a string`,
			`union="éa"[:1]`, `{"union":"é"}`,
		},
		{
			"NUL, string",
			`"text":"a\u0000b"`, `{"text":"a\u0000b"}`,
			`text="a\x00b"`, `{"text":"a\u0000b"}`,
		},
		{
			"NUL, key",
			`"map":{"\u0000":1}`, `{"map":{"\u0000":1}}`,
			`map={"\x00": 1}`, `{"map":{"\u0000":1}}`,
		},
		{
			"NUL, bytes",
			`"data":"AA=="`, `{"data":"AA=="}`,
			`data=b"\x00"`, `{"data":"AA=="}`,
		},
		{
			"NUL unescaped",
			`"text":"` + "\x00" + `"`, `refused: text: unescaped control character in a string`,
			``, ``,
		},
		{
			"1 MiB, string",
			`"text":"` + strings.Repeat("x", mebi) + `"`, `{"text":"` + strings.Repeat("x", mebi) + `"}`,
			`text="x" * (1 << 20)`, `refused: text: the arguments are too large (MaxValueBytes is 1048576)`,
		},
		{
			"1 MiB less 64, string",
			`"text":"` + strings.Repeat("x", mebi-64) + `"`, `{"text":"` + strings.Repeat("x", mebi-64) + `"}`,
			`text="x" * ((1 << 20) - 64)`, `{"text":"` + strings.Repeat("x", mebi-64) + `"}`,
		},
		{
			"1 MiB and 1, string",
			`"text":"` + strings.Repeat("x", mebi+1) + `"`, `refused: text: expected at most 1048576 characters, got 1048577`,
			`text="x" * ((1 << 20) + 1)`, `refused: text: the arguments are too large (MaxValueBytes is 1048576)`,
		},
		{
			"1 MiB, anything",
			`"any":"` + strings.Repeat("x", mebi) + `"`, `{"any":"` + strings.Repeat("x", mebi) + `"}`,
			`any="x" * (1 << 20)`, `refused: any: the arguments are too large (MaxValueBytes is 1048576)`,
		},
		{
			"1 MiB and 1, anything",
			`"any":"` + strings.Repeat("x", mebi+1) + `"`, `{"any":"` + strings.Repeat("x", mebi+1) + `"}`,
			`any="x" * ((1 << 20) + 1)`, `refused: any: the arguments are too large (MaxValueBytes is 1048576)`,
		},
		{
			"1 MiB, bytes",
			`"data":"` + strings.Repeat("x", mebi) + `"`, `refused: data: expected at most 65536 base64 characters, got 1048576`,
			`data=b"x" * (1 << 20)`, `refused: data: the arguments are too large (MaxValueBytes is 1048576)`,
		},
		{
			"depth 32, type",
			`"nest":` + brackets(31), `{"nest":` + brackets(31) + `}`,
			`nest=` + brackets(31), `{"nest":` + brackets(31) + `}`,
		},
		{
			"depth 33, type",
			`"nest":` + brackets(32), `refused: nest` + strings.Repeat("[0]", 31) + `: nested deeper than 32 levels`,
			`nest=` + brackets(32), `refused: nest` + strings.Repeat("[0]", 31) + `: nested too deeply (MaxValueDepth is 32)`,
		},
		{
			"depth 32, anything",
			`"any":` + brackets(31), `{"any":` + brackets(31) + `}`,
			`any=` + brackets(31), `{"any":` + brackets(31) + `}`,
		},
		{
			"depth 33, anything",
			`"any":` + brackets(32), `refused: any` + strings.Repeat("[0]", 31) + `: nested deeper than 32 levels`,
			`any=` + brackets(32), `refused: any` + strings.Repeat("[0]", 31) + `: nested too deeply (MaxValueDepth is 32)`,
		},
		{
			"depth 33, free",
			`"free":{"x":` + brackets(31) + `}`, `refused: free.x` + strings.Repeat("[0]", 30) + `: nested deeper than 32 levels`,
			`free={"x": ` + brackets(31) + `}`, `refused: free.x` + strings.Repeat("[0]", 30) + `: nested too deeply (MaxValueDepth is 32)`,
		},
		{
			"10,000 items",
			`"list":` + zeroes(10_000), `{"list":` + zeroes(10_000) + `}`,
			`list=[0] * 10000`, `{"list":` + zeroes(10_000) + `}`,
		},
		{
			"10,001 items",
			`"list":` + zeroes(10_001), `refused: list: expected at most 10000 items, got more`,
			`list=[0] * 10001`, `refused: list: expected at most 10000 items, got 10001`,
		},
		{
			"10,001 items, anything",
			`"any":` + zeroes(10_001), `{"any":` + zeroes(10_001) + `}`,
			`any=[0] * 10001`, `{"any":` + zeroes(10_001) + `}`,
		},
		{
			"10,001 members",
			`"map":` + manyZeros(10_001), `refused: map: expected at most 10000 members, got more`,
			`map={str(i): 0 for i in range(10001)}`, `refused: map: expected at most 10000 members, got 10001`,
		},
		{
			"duplicate parameter",
			`"int":1,"int":1`, `refused: int: given twice`,
			`int=1, int=1`, `refused: : keyword argument repeated: int`,
		},
		{
			"duplicate in **",
			``, ``,
			`int=1, **{"int": 1}`, `refused: : TypeError: got multiple values for keyword argument 'int'`,
		},
		{
			"duplicate key, record",
			`"record":{"id":1,"id":1}`, `refused: record.id: given twice`,
			`record={"id": 1, "id": 1}`, `{"record":{"id":1}}`,
		},
		{
			"duplicate key, map",
			`"map":{"a":1,"\u0061":1}`, `refused: map['a']: given twice`,
			`map={"a": 1, "a": 1}`, `{"map":{"a":1}}`,
		},
		{
			"duplicate key, anything",
			`"any":{"a":1,"a":1}`, `refused: any.a: given twice`,
			`any={"a": 1, "a": 1}`, `{"any":{"a":1}}`,
		},
		{
			"unknown parameter",
			`"itn":1`, `refused: itn: unknown member`,
			`itn=1`, `refused: itn: unknown parameter (did you mean int?)`,
		},
		{
			"unknown member",
			`"record":{"id":1,"nor":2}`, `refused: record.nor: unknown member`,
			`record={"id": 1, "nor": 2}`, `refused: record.nor: unknown field; there are id, more`,
		},
		{
			"unknown key that is no name",
			`"record":{"id":1,"a b":2}`, `refused: record['a b']: unknown member`,
			`record={"id": 1, "a b": 2}`, `refused: record['a b']: unknown field; there are id, more`,
		},
		{
			"missing member",
			`"record":{"more":""}`, `refused: record.id: required, but missing`,
			`record={"more": ""}`, `refused: record.id: required field is missing`,
		},
		{
			"null for absent",
			`"int":null`, `refused: int: expected integer, got null`,
			`int=None`, `{}`,
		},
		{
			"null for absent with a default",
			`"filled":null`, `refused: filled: expected integer, got null`,
			`filled=None`, `{}`,
		},
		{
			"null for absent inside",
			`"record":{"id":1,"more":null}`, `refused: record.more: expected string, got null`,
			`record={"id": 1, "more": None}`, `{"record":{"id":1}}`,
		},
		{
			"null for required inside",
			`"record":{"id":null}`, `refused: record.id: expected integer, got null`,
			`record={"id": None}`, `refused: record.id: expected int, got None: it is required`,
		},
		{
			"null for an item",
			`"list":[null]`, `refused: list[0]: expected integer, got null`,
			`list=[None]`, `refused: list[0]: expected int, got None: it is required`,
		},
		{
			"null of three states",
			`"three":null`, `{"three":null}`,
			`three=None`, `{"three":null}`,
		},
		{
			"null for anything",
			`"any":null`, `{"any":null}`,
			`any=None`, `{"any":null}`,
		},
		{
			"null for a record",
			`"record":null`, `refused: record: expected object, got null`,
			`record=None`, `{}`,
		},
		{
			"null for a union",
			`"union":null`, `refused: union: expected number or string, got null`,
			`union=None`, `{}`,
		},
		{
			"tuple for list",
			`"list":[1,2]`, `{"list":[1,2]}`,
			`list=(1, 2)`, `{"list":[1,2]}`,
		},
		{
			"tuple for anything",
			`"any":[1,[]]`, `{"any":[1,[]]}`,
			`any=(1, ())`, `{"any":[1,[]]}`,
		},
		{
			"tuple in a type",
			`"nest":[[],[]]`, `{"nest":[[],[]]}`,
			`nest=((), ())`, `{"nest":[[],[]]}`,
		},
		{
			"range for list",
			``, ``,
			`list=range(2)`, `refused: list: expected list[int], got range`,
		},
		{
			"dict for list",
			`"list":{}`, `refused: list: expected array, got object`,
			`list={}`, `refused: list: expected list[int], got dict`,
		},
		{
			"list for dict",
			`"map":[]`, `refused: map: expected object, got array`,
			`map=[]`, `refused: map: expected dict[str, int], got list`,
		},
		{
			"text for bytes",
			`"data":"A"`, `refused: data: expected base64 text with padding (RFC 4648 section 4)`,
			`data="AA=="`, `refused: data: expected bytes, got str: convert it with text.encode()`,
		},
		{
			"function",
			``, ``,
			`any=len`, `refused: any: expected JSON data, got a function`,
		},
		{
			"set",
			``, ``,
			`list=set([1])`, `refused: list: expected list[int], got set`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.json != "" {
				if got := apart(fromJSON(t, `{"must":null,`+row.json+`}`)); got != row.fromJSON {
					t.Errorf("JSON\n got %.600s\nwant %.600s", got, row.fromJSON)
				}
			}
			if row.program != "" {
				if got := apart(s.run(t, "hard.take(must=None, "+row.program+")")); got != row.fromProgram {
					t.Errorf("PROGRAM\n got %.600s\nwant %.600s", got, row.fromProgram)
				}
			}
		})
	}
}
