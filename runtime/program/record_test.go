package program_test

import (
	"strings"
	"testing"
)

func TestRecords(t *testing.T) {
	for source, want := range map[string]string{
		"r.zeta":                    `"Z"`,
		"r[\"zeta\"]":               `"Z"`,
		"r.ratio":                   "2.0",
		"r.count":                   "3",
		"r.note":                    "null",
		"\"note\" in r":             "false",
		"\"zeta\" in r":             "true",
		"\"what\" in r":             "false",
		"len(r)":                    "4",
		"[k for k in r]":            `["zeta","count","ratio","items"]`,
		"list(r.keys())":            `["zeta","count","ratio","items"]`,
		"list(r.values())":          `["Z",3,2.0,["x","y"]]`,
		"[k for k, v in r.items()]": `["zeta","count","ratio","items"]`,
		"r.get(\"note\", 1)":        "1",
		"r.get(\"count\")":          "3",
		"r.get(\"no\")":             "null",
		"str(r)":                    `"{'zeta': 'Z', 'count': 3, 'ratio': 2.0, 'items': ['x', 'y']}"`,
		"r":                         `{"zeta":"Z","count":3,"ratio":2.0,"items":["x","y"]}`,
		"json.encode(r)":            `"{\"count\":3,\"items\":[\"x\",\"y\"],\"ratio\":2.0,\"zeta\":\"Z\"}"`,
		"dict(r)":                   `{"zeta":"Z","count":3,"ratio":2.0,"items":["x","y"]}`,
		"r == q":                    "true",
		"r != q":                    "false",
		// A field hides the method of its name where it is not called.
		"r.items":             `["x","y"]`,
		"type(r) is dict":     "true",
		"[k for k in dir(r)]": `["clear","copy","count","fromkeys","get","items","keys","note","pop","popitem","ratio","setdefault","update","values","zeta"]`,
		"dict(**r)[\"zeta\"]": `"Z"`,
	} {
		got, f := run(t, "def main():\n  r = records.lookup(key = \"a\")\n  q = records.lookup(key = \"b\")\n  return "+source)
		if f != nil {
			t.Errorf("%s: %v", source, f)
		} else if got != want {
			t.Errorf("%s: got %s, want %s", source, got, want)
		}
	}
}

// A record is a dict: it can be changed, by whatever name it is reached.
func TestRecordsChange(t *testing.T) {
	for _, c := range []struct{ change, see, want string }{
		{"r['zeta'] = 1", "[r['zeta'], r.zeta, s.zeta, list(r)]", `[1,1,1,["zeta","count","ratio","items"]]`},
		{"r['new'] = 1", "[r.new, s['new'], len(r), list(r)[-1], r.get('new')]", `[1,1,5,"new",1]`},
		{"r.zeta = 1", "[s['zeta'], r.zeta]", `[1,1]`},
		{"r['note'] = 'n'", "[r.note, 'note' in s]", `["n",true]`},
		{"r['count'] += 2", "[s.count, r]", `[5,{"zeta":"Z","count":5,"ratio":2.0,"items":["x","y"]}]`},
		{"r.count += 2", "s['count']", `5`},
		{"del r['zeta']", "['zeta' in s, r.get('zeta', 0), len(r)]", `[false,0,3]`},
		{"v = r.pop('zeta')", "[v, 'zeta' in s, r.pop('none', 7)]", `["Z",false,7]`},
		{"r.update({'zeta': 2}, more=3)", "[s.zeta, s.more]", `[2,3]`},
		{"r |= {'zeta': 2}", "[s.zeta, r is s]", `[2,true]`},
		{"r.setdefault('tags', []).append('a')", "s['tags']", `["a"]`},
		{"r.clear()", "[len(s), bool(r), s]", `[0,false,{}]`},
		{"d = r.copy(); d['zeta'] = 0", "[d['zeta'], r['zeta']]", `[0,"Z"]`},
		{"d = {**r}; d['zeta'] = 0", "[d['zeta'], r['zeta']]", `[0,"Z"]`},
		{"r[1] = 2", "[1 in s, s[1]]", `[true,2]`},
		{"v = r.items(); r['new'] = 1", "len(v)", `5`},
		{"r['r'] = r", "str(r)", `"{'zeta': 'Z', 'count': 3, 'ratio': 2.0, 'items': ['x', 'y'], 'r': {...}}"`},
	} {
		got, f := run(t, "def main():\n  r = records.lookup(key = \"a\")\n  s = r\n  "+c.change+"\n  return "+c.see)
		if f != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.change, got, f, c.want)
		}
	}
	for source, want := range map[string]string{
		"return r.get([])":                  "TypeError: unhashable type: 'list'",
		"return r.get()":                    "TypeError: ",
		"del r['zeta']\n  return r['zeta']": "KeyError: 'zeta'",
		"del r['zeta']\n  return r.zeta":    "AttributeError: the record has no field zeta",
		"for k in r:\n    r[k + '2'] = 1":   "RuntimeError: dictionary changed size during iteration",
		"r['r'] = r\n  return r":            "main returned a value nested too deeply",
	} {
		if _, f := run(t, "def main():\n  r = records.lookup(key = \"a\")\n  "+source); f == nil || !strings.HasPrefix(f.Message, want) {
			t.Errorf("%s: %v, want %s", source, f, want)
		}
	}
}
