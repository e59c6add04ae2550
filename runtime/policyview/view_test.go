package policyview_test

import (
	"errors"
	"math"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/policyview"
	"github.com/google/go-cmp/cmp"
)

type value struct{}

func (value) Encode(w *canon.Writer) {
	w.BeginObject(6)
	w.Key("big")
	w.Int(math.MaxInt64, math.MinInt64, math.MaxInt64)
	w.Key("flag")
	w.Bool(true)
	w.Key("list")
	w.BeginArray(2, 0, 9)
	w.Element(0)
	w.String("a", 0, 9)
	w.Element(1)
	w.Null()
	w.EndArray()
	w.Key("number")
	w.Float(2)
	w.Key("object")
	w.BeginObject(0)
	w.EndObject()
	w.Key("text")
	w.String("t", 0, 9)
	w.EndObject()
}

func TestViewKeepsIntegersApartFromNumbers(t *testing.T) {
	v := policyview.New(value{}, 8)
	first, err := v.Map()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"big": int64(math.MaxInt64), "flag": true, "list": []any{"a", nil}, "number": 2.0,
		"object": map[string]any{}, "text": "t",
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	first["text"] = "changed"
	second, err := v.Map()
	if err != nil || second["text"] != "t" {
		t.Errorf("second view %v %v", second, err)
	}
}

func TestViewEndsWithTheDecision(t *testing.T) {
	v := policyview.New(value{}, 8)
	v.Close()
	if _, err := v.Map(); !errors.Is(err, policyview.ErrClosed) {
		t.Errorf("error %v", err)
	}
}
