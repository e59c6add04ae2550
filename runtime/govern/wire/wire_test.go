package wire

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern"
)

func TestPreparedAndLanded(t *testing.T) {
	at := time.Date(2026, 11, 30, 1, 2, 3, 4000, time.FixedZone("", 3600))
	p, err := Prepared(govern.Prepared{
		Plan: "plan_1", Hash: "h", Token: "t", Expires: at, Approval: "x approve plan_1", Separation: "none",
		Actions: []govern.Action{{Path: "a", Action: "create", After: "00", Mode: "0644"}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"actions":[{"action":"create","after":"00","mode":"0644","path":"a"}],"approval":"x approve plan_1","expires":"2026-11-30T00:02:03.000004Z","hash":"h","plan":"plan_1","separation":"none","token":"t"}`
	if got := string(p.AppendCanonical(nil)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	broken := errors.New("broken")
	if _, err := Prepared(govern.Prepared{}, broken); err != broken {
		t.Error(err)
	}
	l, err := Landed(govern.Landed{Plan: "plan_1", State: "applied"}, nil)
	if err != nil || string(l.AppendCanonical(nil)) != `{"plan":"plan_1","state":"applied"}` {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := Landed(govern.Landed{}, broken); err != broken {
		t.Error(err)
	}
}

func TestOutput(t *testing.T) {
	in := ShowInput{Plan: "plan_1"}
	text, err := Encode(in, nil)
	if err != nil || string(text) != `{"plan":"plan_1"}` {
		t.Fatalf("%s, %v", text, err)
	}
	out, err := Output[ShowInput](govern.Landed{Output: text}, nil)
	if v, ok := out.Get(); err != nil || !ok || v != in {
		t.Errorf("%+v, %v", out, err)
	}
	for _, l := range []struct {
		landed govern.Landed
		err    error
	}{{govern.Landed{Output: []byte(`{"plan":1}`)}, nil}, {govern.Landed{Output: text}, errors.New("broken")}} {
		if _, err := Output[ShowInput](l.landed, l.err); err == nil {
			t.Errorf("%s, %v: no error", l.landed.Output, l.err)
		}
	}
	if out, err := Output[ShowInput](govern.Landed{}, nil); out.Present || err != nil {
		t.Errorf("%+v, %v", out, err)
	}
	// An output that breaks its schema is a failure of the capability.
	if _, err := Encode(CancelInput{Plan: "p", Reason: canon.Some(string(make([]byte, 257)))}, nil); err == nil {
		t.Error("too long, and no error")
	}
	if _, err := Decode[ShowInput]([]byte(`{"plan":"a"} {}`)); err == nil {
		t.Error("two values, and no error")
	}
}

func TestCodes(t *testing.T) {
	if codes := Codes(); len(codes) != len(govern.Codes()) || !slices.Contains(codes, "approval_required") {
		t.Error(codes)
	}
}
