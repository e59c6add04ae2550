package codegen_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/shapes"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// shapeHandlers keep what they got and return what they are told.
type shapeHandlers struct {
	in, out any
}

func answer[Out any](h *shapeHandlers, in any) (Out, error) {
	h.in = in
	if out, ok := h.out.(Out); ok {
		return out, nil
	}
	var zero Out
	return zero, errors.New("no such answer")
}

func (h *shapeHandlers) Opaque(_ context.Context, in shapes.OpaqueInput) (shapes.OpaqueOutput, error) {
	return answer[shapes.OpaqueOutput](h, in)
}

func (h *shapeHandlers) Free(_ context.Context, in shapes.FreeInput) (shapes.FreeOutput, error) {
	return answer[shapes.FreeOutput](h, in)
}

func (h *shapeHandlers) Recursive(_ context.Context, in shapes.RecursiveInput) (types.Chain, error) {
	return answer[types.Chain](h, in)
}

func (h *shapeHandlers) Tree(_ context.Context, in types.Tree) (shapes.TreeOutput, error) {
	return answer[shapes.TreeOutput](h, in)
}

func (h *shapeHandlers) Tagged(_ context.Context, in shapes.TaggedInput) (shapes.TaggedOutput, error) {
	return answer[shapes.TaggedOutput](h, in)
}

func (h *shapeHandlers) Union(_ context.Context, in shapes.UnionInput) (shapes.UnionOutput, error) {
	return answer[shapes.UnionOutput](h, in)
}

func (h *shapeHandlers) Merged(_ context.Context, in shapes.MergedInput) (types.Aged, error) {
	return answer[types.Aged](h, in)
}

func (h *shapeHandlers) Const(_ context.Context, in shapes.ConstInput) (shapes.ConstOutput, error) {
	return answer[shapes.ConstOutput](h, in)
}

// keeper is an authorizer that allows all and keeps what it saw.
type keeper struct {
	arguments string
	view      map[string]any
}

func (k *keeper) Authorize(_ context.Context, r authz.Request) (err error) {
	k.arguments = string(r.Arguments)
	k.view, err = r.View()
	return err
}

// kindRun is one call on its whole way: program → worker's binding → wire →
// host's binding → canonical bytes → handler → output check → wire → program.
type kindRun struct {
	name, program string
	// What the authorizer and the handler must see, what the handler returns,
	// and what the program makes of it.
	canonical string
	view      map[string]any
	in, out   any
	result    string
	// Or the class of the error, its path, and the limit that fired, if one did.
	err         error
	path, limit string
}

func runKinds(t *testing.T, runs []kindRun) {
	t.Helper()
	h, k := &shapeHandlers{}, &keeper{}
	b := runtime.NewBuilder(runtime.Options{Server: runtime.ServerInfo{Name: "kinds", Version: "1"}, Authorizer: k})
	shapes.Register(b, h)
	server, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			h.in, h.out, *k = nil, c.out, keeper{}
			got, err := server.Execute(t.Context(), authz.Local(), "def main():\n    "+c.program+"\n")
			if c.err != nil {
				var e *runtime.Error
				if !errors.Is(err, c.err) || !errors.As(err, &e) || e.Fault().Path != c.path || c.limit != "" && e.Fault().Limit != c.limit {
					t.Errorf("%v, want %v at %q", err, c.err, c.path)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if k.arguments != c.canonical {
				t.Errorf("canonical arguments\n got %s\nwant %s", k.arguments, c.canonical)
			}
			if diff := cmp.Diff(c.view, k.view); c.view != nil && diff != "" {
				t.Errorf("policy view (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.in, h.in, cmpopts.EquateComparable(types.Anything{})); diff != "" {
				t.Errorf("the handler's input (-want +got):\n%s", diff)
			}
			if string(got.Result) != c.result {
				t.Errorf("result\n got %s\nwant %s", got.Result, c.result)
			}
		})
	}
}

func opaqueOutput(text string) shapes.OpaqueOutput {
	return shapes.OpaqueOutput(canon.MustOpaque(text))
}

func TestRunOpaque(t *testing.T) {
	const filled = `"empty":null,"filled":{"a":null,"b":[1,2.5,"x"]},`
	in := func(value string) shapes.OpaqueInput {
		return shapes.OpaqueInput{Value: canon.MustOpaque(value), Filled: canon.MustOpaque(`{"a":null,"b":[1,2.5,"x"]}`)}
	}
	with := func(in shapes.OpaqueInput, set func(*shapes.OpaqueInput)) shapes.OpaqueInput {
		set(&in)
		return in
	}
	deep := func(n int) (s string) {
		for range n {
			s = "[" + s + "]"
		}
		return s
	}
	runKinds(t, []kindRun{
		{
			name:      "data",
			program:   `return shapes.opaque(value = {"b": (1, 2.0, -0.0), "a": [None, True, "é"]})`,
			canonical: `{` + filled + `"value":{"a":[null,true,"é"],"b":[1,2,0]}}`,
			view: map[string]any{
				"empty": nil, "filled": map[string]any{"a": nil, "b": []any{int64(1), 2.5, "x"}},
				"value": map[string]any{"a": []any{nil, true, "é"}, "b": []any{int64(1), int64(2), int64(0)}},
			},
			in: in(`{"a":[null,true,"é"],"b":[1,2,0]}`), out: opaqueOutput(`{"k":[1,{"z":null}]}`), result: `{"k":[1,{"z":null}]}`,
		},
		{
			name: "null is a value", program: `return shapes.opaque(value = None, maybe = None, filled = None) == None`,
			canonical: `{"empty":null,"filled":null,"maybe":null,"value":null}`,
			in:        shapes.OpaqueInput{Maybe: canon.Some(canon.Opaque{})}, out: opaqueOutput(`null`), result: `true`,
		},
		{
			name:      "everywhere",
			program:   `return shapes.opaque(value = 1, many = [[], {}, 9007199254740991], named = 1e21, empty = "")["x"]`,
			canonical: `{"empty":"","filled":{"a":null,"b":[1,2.5,"x"]},"many":[[],{},9007199254740991],"named":1e+21,"value":1}`,
			in: with(in(`1`), func(in *shapes.OpaqueInput) {
				in.Empty = canon.MustOpaque(`""`)
				in.Many = canon.Some([]canon.Opaque{canon.MustOpaque(`[]`), canon.MustOpaque(`{}`), canon.MustOpaque(`9007199254740991`)})
				in.Named = canon.Some(types.Anything(canon.MustOpaque(`1e21`)))
			}),
			out: opaqueOutput(`{"x":"y"}`), result: `"y"`,
		},
		{
			name: "wide integers in results are exact", program: `r = shapes.opaque(value = 0); return [r["id"] + 1 == 9007199254740994, type(r["f"]).__name__, r["id"]]`,
			canonical: `{` + filled + `"value":0}`, in: in(`0`),
			out: opaqueOutput(`{"id":9007199254740993,"f":1e20}`), result: `[true,"float","9007199254740993"]`,
		},
		{name: "wide integer", program: `return shapes.opaque(value = {"a": [9007199254740992]})`, err: runtime.ErrInvalidArguments, path: "value.a[0]"},
		{name: "integer beyond 64 bits", program: `return shapes.opaque(value = 1 << 70)`, err: runtime.ErrInvalidArguments, path: "value"},
		{name: "float that reads as one", program: `return shapes.opaque(value = [1e20])`, err: runtime.ErrInvalidArguments, path: "value[0]"},
		{name: "not finite", program: `return shapes.opaque(value = {"a b": float("nan")})`, err: runtime.ErrInvalidArguments, path: "value['a b']"},
		{name: "function", program: `return shapes.opaque(value = [len])`, err: runtime.ErrInvalidArguments, path: "value[0]"},
		{name: "key that is no string", program: `return shapes.opaque(value = {1: 2})`, err: runtime.ErrInvalidArguments, path: "value"},
		{name: "too many items", program: `return shapes.opaque(value = 1, many = [1, 2, 3, 4])`, err: runtime.ErrInvalidArguments, path: "many"},
		{name: "as deep as a value may be", program: `return shapes.opaque(value = ` + deep(31) + `)`, canonical: `{` + filled + `"value":` + deep(31) + `}`, in: in(deep(31)), out: opaqueOutput(deep(32)), result: deep(32)},
		{name: "too deep", program: `return shapes.opaque(value = ` + deep(32) + `)`, err: runtime.ErrResourceLimit, path: "value" + "[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]"},
		{name: "missing", program: `return shapes.opaque()`, err: runtime.ErrInvalidArguments, path: "value"},
	})
}

func TestRunFree(t *testing.T) {
	filled := canon.FreeObject{"a": canon.Opaque{}, "b c": canon.MustOpaque(`[1]`)}
	runKinds(t, []kindRun{
		{
			name:      "any members",
			program:   `return shapes.free(labels = {"z": 1, "a b": [None], "": {}}, many = [{}, {"x": 2.5}])`,
			canonical: `{"filled":{"a":null,"b c":[1]},"labels":{"":{},"a b":[null],"z":1},"many":[{},{"x":2.5}]}`,
			view: map[string]any{
				"filled": map[string]any{"a": nil, "b c": []any{int64(1)}},
				"labels": map[string]any{"": map[string]any{}, "a b": []any{nil}, "z": int64(1)},
				"many":   []any{map[string]any{}, map[string]any{"x": 2.5}},
			},
			in: shapes.FreeInput{
				Labels: types.Labels{"": canon.MustOpaque(`{}`), "a b": canon.MustOpaque(`[null]`), "z": canon.MustOpaque(`1`)},
				Many:   canon.Some([]canon.FreeObject{{}, {"x": canon.MustOpaque(`2.5`)}}), Filled: filled,
			},
			out: shapes.FreeOutput{"n": canon.MustOpaque(`9007199254740993`), "k": canon.MustOpaque(`{"b":1,"a":2}`)}, result: `{"k":{"a":2,"b":1},"n":"9007199254740993"}`,
		},
		{
			name: "empty", program: `return shapes.free(labels = {}, maybe = None)`, canonical: `{"filled":{"a":null,"b c":[1]},"labels":{}}`,
			in: shapes.FreeInput{Labels: types.Labels{}, Filled: filled}, out: shapes.FreeOutput(nil), result: `{}`,
		},
		{name: "list", program: `return shapes.free(labels = [])`, err: runtime.ErrInvalidArguments, path: "labels"},
		{name: "null", program: `return shapes.free(labels = None)`, err: runtime.ErrInvalidArguments, path: "labels"},
		{name: "wide integer", program: `return shapes.free(labels = {"a": [1 << 60]})`, err: runtime.ErrInvalidArguments, path: "labels.a[0]"},
		{name: "too many members", program: `return shapes.free(labels = {str(i): 0 for i in range(10001)})`, err: runtime.ErrInvalidArguments, path: "labels"},
		{name: "output that is too deep", program: `return shapes.free(labels = {})`, out: shapes.FreeOutput{"x": canon.MustOpaque(strings.Repeat("[", 32) + strings.Repeat("]", 32))}, err: runtime.ErrResourceLimit, limit: "MaxValueDepth"},
		{name: "output with too many members", program: `return shapes.free(labels = {})`, out: manyMembers(10_001), err: runtime.ErrCapabilityFailed},
	})
}

func manyMembers(n int) shapes.FreeOutput {
	out := shapes.FreeOutput{}
	for i := range n {
		out[strconv.Itoa(i)] = canon.Opaque{}
	}
	return out
}

func TestRunRecursive(t *testing.T) {
	leaf := types.Tree{Name: "leaf"}
	next := func(head int64, rest types.Chain) types.Chain {
		return types.Chain{Head: head, Next: canon.Some(&rest)}
	}
	filled := shapes.RecursiveInput{
		Tree: leaf, Chain: &types.Chain{Head: 1},
		Trees:  []types.Tree{{Name: "a", Children: canon.Some([]types.Tree{{Name: "b"}})}},
		Chains: []types.Chain{next(1, types.Chain{Head: 2})},
	}
	const defaults = `"trees":[{"children":[{"name":"b"}],"name":"a"}]`
	const chains = `"chains":[{"head":1,"next":{"head":2}}],`
	with := func(set func(*shapes.RecursiveInput)) shapes.RecursiveInput {
		in := filled
		set(&in)
		return in
	}
	loop := types.Chain{Head: 1, Side: canon.Some(types.ChainSide{Loop: canon.Some(&types.Loop{Chain: &types.Chain{Head: 3}})})}
	// A value that holds itself, one that does so twice at each level, and one
	// that holds nothing where something is required.
	endless := &types.Chain{Head: 1}
	endless.Next = canon.Some(endless)
	many := types.Tree{Name: "x"}
	for range 14 {
		many = types.Tree{Name: "x", Children: canon.Some([]types.Tree{many, many, many})}
	}
	const simple = `tree = {"name": "leaf"}, chain = {"head": 1}`
	const canonical = `{"chain":{"head":1},` + chains + `"tree":{"name":"leaf"},` + defaults + `}`
	runKinds(t, []kindRun{
		{
			name:      "nested",
			program:   `r = shapes.recursive(tree = {"name": "r", "children": [{"name": "leaf"}, {"name": "s", "children": ()}]}, chain = {"head": 1, "next": {"head": 2, "next": {"head": 3}}}, nest = [[], [[]]]); return [r.side.loop.chain.head, r["side"]["loop"], r.next]`,
			canonical: `{"chain":{"head":1,"next":{"head":2,"next":{"head":3}}},` + chains + `"nest":[[],[[]]],"tree":{"children":[{"name":"leaf"},{"children":[],"name":"s"}],"name":"r"},` + defaults + `}`,
			view: map[string]any{
				"chain":  map[string]any{"head": int64(1), "next": map[string]any{"head": int64(2), "next": map[string]any{"head": int64(3)}}},
				"chains": []any{map[string]any{"head": int64(1), "next": map[string]any{"head": int64(2)}}},
				"nest":   []any{[]any{}, []any{[]any{}}},
				"tree":   map[string]any{"name": "r", "children": []any{map[string]any{"name": "leaf"}, map[string]any{"name": "s", "children": []any{}}}},
				"trees":  []any{map[string]any{"name": "a", "children": []any{map[string]any{"name": "b"}}}},
			},
			in: with(func(in *shapes.RecursiveInput) {
				chain := next(1, next(2, types.Chain{Head: 3}))
				in.Chain = &chain
				in.Tree = types.Tree{Name: "r", Children: canon.Some([]types.Tree{leaf, {Name: "s", Children: canon.Some[[]types.Tree](nil)}})}
				in.Nest = canon.Some(types.Nest{nil, {nil}})
			}),
			out: loop, result: `[3,{"chain":{"head":3}},null]`,
		},
		{
			name: "null on the way", program: `r = shapes.recursive(tree = {"name": "leaf"}, chain = {"head": 1, "last": {"head": 2, "last": None}}); return [r.last, r.next.last.head, "last" in r.next.last]`,
			canonical: `{"chain":{"head":1,"last":{"head":2,"last":null}},` + chains + `"tree":{"name":"leaf"},` + defaults + `}`,
			in: with(func(in *shapes.RecursiveInput) {
				inner := types.Chain{Head: 2, Last: canon.Some(canon.Nullable[*types.Chain]{})}
				in.Chain = &types.Chain{Head: 1, Last: canon.Some(canon.Nullable[*types.Chain]{Value: &inner, Valid: true})}
			}),
			out:    types.Chain{Head: 1, Last: canon.Some(canon.Nullable[*types.Chain]{}), Next: canon.Some(&types.Chain{Last: canon.Some(canon.Nullable[*types.Chain]{Value: &types.Chain{Head: 7}, Valid: true})})},
			result: `[null,7,false]`,
		},
		{name: "back into the program", program: `r = shapes.recursive(` + simple + `); return shapes.recursive(tree = {"name": "leaf"}, chain = {"head": 1}) == r`, canonical: canonical, in: filled, out: loop, result: `true`},
		{
			name: "the input itself", program: `return [t.name for t in shapes.tree(name = "r", children = [{"name": "leaf"}])]`,
			canonical: `{"children":[{"name":"leaf"}],"name":"r"}`, in: types.Tree{Name: "r", Children: canon.Some([]types.Tree{leaf})},
			out: shapes.TreeOutput{leaf, {Name: "b"}}, result: `["leaf","b"]`,
		},
		{name: "wrong inside", program: `return shapes.recursive(tree = {"name": "r", "children": [{"name": "a", "children": [{"name": 1}]}]}, chain = {"head": 1})`, err: runtime.ErrInvalidArguments, path: "tree.children[0].children[0].name"},
		{name: "out of bounds inside", program: `return shapes.recursive(tree = {"name": "leaf"}, chain = {"head": 1, "next": {"head": 1 << 53}})`, err: runtime.ErrInvalidArguments, path: "chain.next.head"},
		{name: "unknown inside", program: `return shapes.recursive(tree = {"name": "leaf"}, chain = {"head": 1, "side": {"loop": {"chian": {"head": 1}}}})`, err: runtime.ErrInvalidArguments, path: "chain.side.loop.chian"},
		{name: "another kind", program: `return shapes.recursive(tree = {"name": "leaf"}, chain = 1)`, err: runtime.ErrInvalidArguments, path: "chain"},
		{name: "too deep", program: `d = {"head": 0}
    for i in range(40):
        d = {"head": i, "next": d}
    return shapes.recursive(tree = {"name": "leaf"}, chain = d)`, err: runtime.ErrResourceLimit, path: "chain" + strings.Repeat(".next", 31)},
		{name: "an argument that holds itself", program: `d = {"head": 0}
    d["next"] = d
    return shapes.recursive(tree = {"name": "leaf"}, chain = d)`, err: runtime.ErrResourceLimit, path: "chain" + strings.Repeat(".next", 31)},
		{name: "a result that holds itself", program: `return shapes.recursive(` + simple + `)`, out: *endless, err: runtime.ErrResourceLimit, limit: "MaxValueDepth"},
		{name: "a result that multiplies", program: `return shapes.tree(name = "r")`, out: shapes.TreeOutput{many}, err: runtime.ErrResourceLimit, limit: "MaxValueBytes"},
		{name: "a result with nil", program: `return shapes.recursive(` + simple + `)`, out: types.Chain{Next: canon.Some[*types.Chain](nil)}, err: runtime.ErrCapabilityFailed},
	})
}

// What stands under $defs is judged by an independent validator.
func TestRecursiveSchemaStandsAlone(t *testing.T) {
	text, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range load(t, "capabilities.yaml", text).Capabilities {
		if c.Name != "shapes.recursive" {
			continue
		}
		judge := compileSchema(t, codegen.InlineSchema(c.Input))
		for value, want := range map[string]bool{
			`{"tree":{"name":"a","children":[{"name":"b"}]},"chain":{"head":1,"next":{"head":2}}}`: true,
			`{"tree":{"name":"a","children":[{"name":1}]},"chain":{"head":1}}`:                     false,
			`{"tree":{"name":"a"},"chain":{"head":1,"next":{"head":2,"nxt":{}}}}`:                  false,
		} {
			instance, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
			if err != nil {
				t.Fatal(err)
			}
			_, decoded := decode[shapes.RecursiveInput](canon.NewJSONReader([]byte(value), depth))
			if err := judge.Validate(instance); (err == nil) != want || (decoded == nil) != want {
				t.Errorf("%s: schema %v, decoder %v", value, err, decoded)
			}
		}
	}
}

func cat(lives int64) types.Pet {
	return types.Pet{Value: &types.PetCat{Kind: types.CatKindCat, Lives: lives}}
}

func dog(chases types.Pet) types.Pet {
	return types.Pet{Value: &types.PetDog{Kind: types.DogKindDog, Chases: canon.Some(chases)}}
}

func TestRunTagged(t *testing.T) {
	runKinds(t, []kindRun{
		{
			name:      "each variant",
			program:   `r = shapes.tagged(pet = {"chases": {"lives": 7, "kind": "cat"}, "kind": "dog"}, maybe = None, event = {"op": "del-key", "key": "k"}); return [r[0].kind, r[1].chases.lives, r[1]["kind"], r]`,
			canonical: `{"event":{"key":"k","op":"del-key"},"maybe":null,"pet":{"chases":{"kind":"cat","lives":7},"kind":"dog"}}`,
			view: map[string]any{
				"event": map[string]any{"key": "k", "op": "del-key"}, "maybe": nil,
				"pet": map[string]any{"kind": "dog", "chases": map[string]any{"kind": "cat", "lives": int64(7)}},
			},
			in: shapes.TaggedInput{
				Pet: dog(cat(7)), Maybe: canon.Some(canon.Nullable[types.Pet]{}),
				Event: canon.Some(shapes.TaggedInputEvent{Value: &shapes.TaggedInputEventDelKey{Op: shapes.TaggedInputEventDelKeyOpDelKey, Key: "k"}}),
			},
			out: shapes.TaggedOutput{cat(1), dog(cat(2))}, result: `["cat",2,"dog",[{"kind":"cat","lives":1},{"kind":"dog","chases":{"kind":"cat","lives":2}}]]`,
		},
		{
			name:      "what came goes back",
			program:   `r = shapes.tagged(pet = {"kind": "cat", "lives": 0}); return shapes.tagged(pet = r[0], maybe = r[0]) == r`,
			canonical: `{"maybe":{"kind":"cat","lives":9},"pet":{"kind":"cat","lives":9}}`,
			in:        shapes.TaggedInput{Pet: cat(9), Maybe: canon.Some(canon.Nullable[types.Pet]{Value: cat(9), Valid: true})},
			out:       shapes.TaggedOutput{cat(9)}, result: `true`,
		},
		{name: "no tag", program: `return shapes.tagged(pet = {"lives": 1})`, err: runtime.ErrInvalidArguments, path: "pet.kind"},
		{name: "unknown tag", program: `return shapes.tagged(pet = {"kind": "dgo"})`, err: runtime.ErrInvalidArguments, path: "pet.kind"},
		{name: "tag of another kind", program: `return shapes.tagged(pet = {"kind": 1})`, err: runtime.ErrInvalidArguments, path: "pet.kind"},
		{name: "member of another variant", program: `return shapes.tagged(pet = {"kind": "dog", "lives": 1})`, err: runtime.ErrInvalidArguments, path: "pet.lives"},
		{name: "out of bounds in a variant", program: `return shapes.tagged(pet = {"kind": "dog", "chases": {"kind": "cat", "lives": 10}})`, err: runtime.ErrInvalidArguments, path: "pet.chases.lives"},
		{name: "not an object", program: `return shapes.tagged(pet = "cat")`, err: runtime.ErrInvalidArguments, path: "pet"},
		{name: "a result without a variant", program: `return shapes.tagged(pet = {"kind": "dog"})`, out: shapes.TaggedOutput{{}}, err: runtime.ErrCapabilityFailed},
		{name: "a result with a nil variant", program: `return shapes.tagged(pet = {"kind": "dog"})`, out: shapes.TaggedOutput{{Value: (*types.PetCat)(nil)}}, err: runtime.ErrCapabilityFailed},
		{name: "a result whose tag is another's", program: `return shapes.tagged(pet = {"kind": "dog"})`, out: shapes.TaggedOutput{{Value: &types.PetCat{Kind: "dog"}}}, err: runtime.ErrCapabilityFailed},
	})
}

func TestRunUnion(t *testing.T) {
	number := func(f float64) types.Formula { n := types.FormulaNumber(f); return types.Formula{Value: &n} }
	name := func(s string) types.Formula { n := types.FormulaString(s); return types.Formula{Value: &n} }
	pair := func(a, b types.Formula) types.Formula { return types.Formula{Value: &types.FormulaArray{a, b}} }
	list := func(items ...types.Formula) shapes.UnionOutput {
		out := shapes.UnionOutputArray(items)
		return shapes.UnionOutput{Value: &out}
	}
	yes := shapes.UnionOutputBoolean(true)
	path := shapes.UnionInputEntryPath("/p")
	five := shapes.UnionInputAnyValueNumber(5)
	runKinds(t, []kindRun{
		{
			name:      "each type",
			program:   `return shapes.union(formula = ["plus", (1, 2.5)], any = 5, entry = "/p")`,
			canonical: `{"any":5,"entry":"/p","formula":["plus",[1,2.5]]}`,
			view:      map[string]any{"any": int64(5), "entry": "/p", "formula": []any{"plus", []any{1.0, 2.5}}},
			in: shapes.UnionInput{
				Formula: pair(name("plus"), pair(number(1), number(2.5))),
				Any:     canon.Some(canon.Nullable[shapes.UnionInputAnyValue]{Value: shapes.UnionInputAnyValue{Value: &five}, Valid: true}),
				Entry:   canon.Some(shapes.UnionInputEntry{Value: &path}),
			},
			out: list(number(1), pair(name("a"), number(2))), result: `[1.0,["a",2.0]]`,
		},
		{
			name: "objects and null", program: `return shapes.union(formula = 1, any = None, entry = {"path": "/a"})`, canonical: `{"any":null,"entry":{"path":"/a"},"formula":1}`,
			in: shapes.UnionInput{
				Formula: number(1), Any: canon.Some(canon.Nullable[shapes.UnionInputAnyValue]{}),
				Entry: canon.Some(shapes.UnionInputEntry{Value: &shapes.UnionInputEntryEntry{Path: "/a"}}),
			},
			out: shapes.UnionOutput{Value: &yes}, result: `true`,
		},
		{
			name: "a record", program: `r = shapes.union(formula = 1); return shapes.union(formula = 1, entry = r).path`, canonical: `{"entry":{"path":"/x"},"formula":1}`,
			in:  shapes.UnionInput{Formula: number(1), Entry: canon.Some(shapes.UnionInputEntry{Value: &shapes.UnionInputEntryEntry{Path: "/x"}})},
			out: shapes.UnionOutput{Value: &shapes.UnionOutputEntry{Path: "/x"}}, result: `"/x"`,
		},
		{name: "no variant", program: `return shapes.union(formula = True)`, err: runtime.ErrInvalidArguments, path: "formula"},
		{name: "float for the integer", program: `return shapes.union(formula = 1, any = 1.0)`, err: runtime.ErrInvalidArguments, path: "any"},
		{name: "bound of a variant", program: `return shapes.union(formula = ["a", ["b", "C"]])`, err: runtime.ErrInvalidArguments, path: "formula[1][1]"},
		{name: "length of a variant", program: `return shapes.union(formula = ["a"])`, err: runtime.ErrInvalidArguments, path: "formula"},
		{name: "null where it is none", program: `return shapes.union(formula = None)`, err: runtime.ErrInvalidArguments, path: "formula"},
		{name: "too deep", program: `f = 1
    for _ in range(40):
        f = [f, 1]
    return shapes.union(formula = f)`, err: runtime.ErrResourceLimit, path: "formula" + strings.Repeat("[0]", 31)},
		{name: "a result out of bounds", program: `return shapes.union(formula = 1)`, out: list(name("A")), err: runtime.ErrCapabilityFailed},
	})
}

// Decoder and effective schema accept the same unions.
func TestUnionsAgreeWithTheirSchemas(t *testing.T) {
	text, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range load(t, "capabilities.yaml", text).Capabilities {
		var read func(*canon.Reader) error
		var full string
		switch c.Name {
		case "shapes.tagged":
			read = func(r *canon.Reader) error { _, err := decode[shapes.TaggedInput](r); return err }
			full = `{"pet":{"kind":"dog","chases":{"kind":"cat","lives":3}},"maybe":{"kind":"dog"},"event":{"op":"put","value":3}}`
		case "shapes.union":
			read = func(r *canon.Reader) error { _, err := decode[shapes.UnionInput](r); return err }
			full = `{"formula":["a",[1,"b"]],"any":{"x":1},"entry":{"path":"/"}}`
		default:
			continue
		}
		judge := compileSchema(t, codegen.InlineSchema(c.Input))
		accepted := 0
		for _, text := range mutations(t, full) {
			instance, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			want, got := judge.Validate(instance), read(canon.NewJSONReader([]byte(text), depth))
			if (want == nil) != (got == nil) {
				t.Errorf("%s\nschema: %v\ndecoder: %v", text, want, got)
			}
			if got == nil {
				accepted++
			}
		}
		if accepted < 5 {
			t.Errorf("%s: only %d accepted", c.Name, accepted)
		}
	}
}
