package mcpserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/fault"
)

func TestFairness(t *testing.T) {
	f, err := newFairness(Limits{MaxCallsPerSubject: 2, MaxCallsPerSecond: 10})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	f.now = func() time.Time { return now }
	for range 2 {
		if refused := f.enter("ann"); refused != nil {
			t.Fatal(refused)
		}
	}
	refused := f.enter("ann")
	if refused == nil || refused.Class != fault.Limit || refused.Limit != fault.MaxCallsPerSubject || refused.Bound != 2 || refused.Hint == "" {
		t.Errorf("a third call: %+v", refused)
	}
	if refused := f.enter("bob"); refused != nil {
		t.Errorf("another subject: %v", refused)
	}
	f.leave("ann")
	if refused := f.enter("ann"); refused != nil {
		t.Errorf("after one has ended: %v", refused)
	}
	f.leave("ann")
	f.leave("ann")
	let := 0
	for ; let < 100; let++ {
		if refused = f.enter("ann"); refused != nil {
			break
		}
		f.leave("ann")
	}
	if let != 17 || refused.Limit != fault.MaxCallsPerSecond || refused.Bound != 10 { // 20 at once, of which 3 were made
		t.Errorf("%d more, then %+v", let, refused)
	}
	now = now.Add(time.Second)
	for i := range 10 {
		if refused := f.enter("ann"); refused != nil {
			t.Errorf("%d in the next second: %v", i, refused)
		}
		f.leave("ann")
	}
	if f.enter("ann") == nil {
		t.Error("an eleventh in that second")
	}
}

// What is known of a subject is bounded by what it has done of late.
func TestFairnessForgets(t *testing.T) {
	f, err := newFairness(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	f.now = func() time.Time { return now }
	for i := range 1000 {
		who := fmt.Sprint(i)
		if f.enter(who) != nil {
			t.Fatal("refused")
		}
		if i > 0 {
			f.leave(who)
		}
	}
	now = now.Add(2 * time.Minute)
	f.enter("x")
	if len(f.subjects) != 2 { // x, and 0, whose call runs
		t.Errorf("%d subjects are known", len(f.subjects))
	}
	for _, l := range []Limits{{MaxCallsPerSubject: -1}, {MaxCallsPerSecond: -1}} {
		if _, err := newFairness(l); err == nil {
			t.Errorf("%+v", l)
		}
	}
}
