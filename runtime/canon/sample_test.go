package canon_test

import "github.com/capgen/capgen/runtime/canon"

// query is a type as the generator would write it, with every kind in it.
type query struct {
	Path   string
	Limit  int64
	Ratio  float64
	Deep   bool
	Order  string
	Glob   canon.Optional[string]
	Filter filter
	Tags   []string
}

type filter struct {
	Owner string
	Ids   []int64
}

var lowercase = &canon.Pattern{Expr: `^[a-z]+$`}

func (v *query) Decode(r *canon.Reader) error {
	*v = query{}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "path":
			seen.Mark(r, 0)
			v.Path = r.String(1, 20)
		case "limit":
			seen.Mark(r, 1)
			v.Limit = r.Int(1, 100)
			r.IntMultipleOf(v.Limit, 2)
		case "ratio":
			seen.Mark(r, 2)
			v.Ratio = r.Float()
			r.AtLeast(v.Ratio, -1)
			r.Below(v.Ratio, 10)
			r.MultipleOf(v.Ratio, 0.1)
		case "deep":
			seen.Mark(r, 3)
			v.Deep = r.Bool()
		case "order":
			seen.Mark(r, 4)
			v.Order = r.Enum("name", "size")
		case "glob":
			seen.Mark(r, 5)
			v.Glob = canon.Some(r.String(0, 20))
			r.Match(v.Glob.Value, lowercase)
		case "filter":
			seen.Mark(r, 6)
			v.Filter.Decode(r)
		case "tags":
			seen.Mark(r, 7)
			r.BeginArray(1, 3)
			for r.NextElement() {
				v.Tags = canon.Append(r, v.Tags, r.String(1, 5))
			}
		default:
			r.UnknownMember()
		}
	}
	r.Require(&seen, 0, "path")
	if !seen.Has(1) {
		v.Limit = 20
	}
	r.Require(&seen, 6, "filter")
	return r.Err()
}

func (v *filter) Decode(r *canon.Reader) error {
	*v = filter{}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "owner":
			seen.Mark(r, 0)
			v.Owner = r.String(0, 20)
		case "ids":
			seen.Mark(r, 1)
			r.BeginArray(0, 10)
			for r.NextElement() {
				v.Ids = canon.Append(r, v.Ids, r.Int(-1<<53+1, 1<<53-1))
			}
		default:
			r.UnknownMember()
		}
	}
	r.Require(&seen, 0, "owner")
	return r.Err()
}

func (v *query) Encode(w *canon.Writer) {
	n := 7
	if v.Glob.Present {
		n++
	}
	w.BeginObject(n)
	w.Key("deep")
	w.Bool(v.Deep)
	w.Key("filter")
	v.Filter.Encode(w)
	if v.Glob.Present {
		w.Key("glob")
		w.String(v.Glob.Value, 0, 20)
		w.Match(v.Glob.Value, lowercase)
	}
	w.Key("limit")
	w.Int(v.Limit, 1, 100)
	w.IntMultipleOf(v.Limit, 2)
	w.Key("order")
	w.Enum(v.Order, "name", "size")
	w.Key("path")
	w.String(v.Path, 1, 20)
	w.Key("ratio")
	w.Float(v.Ratio)
	w.AtLeast(v.Ratio, -1)
	w.Below(v.Ratio, 10)
	w.MultipleOf(v.Ratio, 0.1)
	w.Key("tags")
	w.BeginArray(len(v.Tags), 1, 3)
	for i, s := range v.Tags {
		w.Element(i)
		w.String(s, 1, 5)
	}
	w.EndArray()
	w.EndObject()
}

func (v *filter) Encode(w *canon.Writer) {
	w.BeginObject(2)
	w.Key("ids")
	w.BeginArray(len(v.Ids), 0, 10)
	for i, n := range v.Ids {
		w.Element(i)
		w.Int(n, -1<<53+1, 1<<53-1)
	}
	w.EndArray()
	w.Key("owner")
	w.String(v.Owner, 0, 20)
	w.EndObject()
}

func goodQuery() query {
	return query{
		Path: "a/é😀", Limit: 20, Ratio: 0.3, Deep: true, Order: "size",
		Glob:   canon.Some("go"),
		Filter: filter{Owner: "me", Ids: []int64{-1, 0, 127, 128, 255, 1 << 31, 1<<53 - 1}},
		Tags:   []string{"x", "y"},
	}
}

const maxDepth = 32

// decodeJSON and decodeWire read a whole value.
func decodeJSON(text string, decode func(*canon.Reader)) *canon.Error {
	return decodeAll(canon.NewJSONReader([]byte(text), maxDepth), decode)
}

func decodeWire(wire []byte, decode func(*canon.Reader)) *canon.Error {
	return decodeAll(canon.NewWireReader(wire, maxDepth), decode)
}

func decodeAll(r *canon.Reader, decode func(*canon.Reader)) *canon.Error {
	decode(r)
	if err := r.End(); err != nil {
		return err.(*canon.Error)
	}
	return nil
}

func wantError(path string, code canon.Code, message string, offset int) canon.Error {
	return canon.Error{Path: path, Code: code, Message: message, Offset: offset}
}
