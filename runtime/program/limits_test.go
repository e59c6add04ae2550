package program_test

import (
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/fault"
)

func TestLimits(t *testing.T) {
	l := limits()
	l.ValueBytes, l.ResultBytes, l.SourceBytes, l.Depth, l.Calls = 1000, 100, 500, 3, 3
	for _, c := range []struct {
		name, source, limit string
		bound               int64
	}{
		{"endless loop", "while True:\n  pass", fault.MaxSteps, l.Steps},
		{"endless top level", "def main():\n  return 1\nwhile True:\n  pass", fault.MaxSteps, l.Steps},
		{"long sum", "sum(range(1 << 40))", fault.MaxSteps, l.Steps},
		{"calls", "for i in range(9):\n  a.b.other()", fault.MaxNativeCalls, 3},
		{"intermediate", "[records.lookup(key = \"a\") for i in range(3)]", fault.MaxIntermediateValueBytes, 100},
		{"value", "\"x\" * 2000", fault.MaxValueBytes, 1000},
		{"value of many", "[\"\"] * 2000", fault.MaxValueBytes, 1000},
		{"shared value", "x = [1]\nfor i in range(2):\n  x = [x] * 1000\nx", fault.MaxValueBytes, 1000},
		{"key", "{\"x\" * 2000: 1}", fault.MaxValueBytes, 1000},
		{"argument", "records.lookup(key = \"x\" * 2000)", fault.MaxValueBytes, 1000},
		{"cycle", "x = []\nx.append(x)\nx", fault.MaxValueDepth, 3},
		{"dict cycle", "x = {}\nx[\"a\"] = x\nx", fault.MaxValueDepth, 3},
		{"source", "1" + strings.Repeat(" ", 500), fault.MaxSourceBytes, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, f := runWith(t, c.source, l, &host{t: t})
			if f == nil || f.Class != fault.Limit || f.Limit != c.limit || f.Bound != c.bound {
				t.Fatalf("got %+v, want %s = %d", f, c.limit, c.bound)
			}
			if !strings.Contains(f.Message, c.limit) {
				t.Errorf("the message does not name the limit: %s", f.Message)
			}
		})
	}
}

// A bind failure is an attempt: it counts.
func TestRefusedCallsCount(t *testing.T) {
	stop := &fault.Fault{Class: fault.Limit, Message: "stop", Limit: fault.MaxNativeCalls, Bound: 1}
	h := &host{t: t, refuse: stop}
	_, f := runWith(t, "records.lookup()", limits(), h)
	if f == nil || f.Message != "stop" || f.Line != 1 {
		t.Errorf("the host's fault does not win: %+v", f)
	}
}

func TestDepthOfArguments(t *testing.T) {
	l := limits()
	l.Depth = 2
	_, f := runWith(t, "kinds.all(filter = {\"owner\": \"o\", \"ids\": [1]})", l, &host{t: t})
	if f == nil || f.Limit != fault.MaxValueDepth || f.Path != "filter.ids" {
		t.Errorf("%+v", f)
	}
	l.Depth = 1
	_, f = runWith(t, "kinds.all(filter = {\"owner\": \"o\"})", l, &host{t: t})
	if f == nil || f.Limit != fault.MaxValueDepth || f.Path != "filter" {
		t.Errorf("%+v", f)
	}
}
