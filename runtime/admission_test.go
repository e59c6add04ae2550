package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
)

// waiters starts executions that wait, one after the other, and tells who gets
// a place.
type waiters struct {
	t        *testing.T
	a        *admission
	admitted chan string
}

func (w waiters) enter(subject string) {
	w.t.Helper()
	w.a.mu.Lock()
	before := w.a.waiting
	w.a.mu.Unlock()
	go func() {
		if err := w.a.enter(context.Background(), subject); err != nil {
			subject += ": " + err.Error()
		}
		w.admitted <- subject
	}()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		w.a.mu.Lock()
		waiting := w.a.waiting
		w.a.mu.Unlock()
		if waiting > before {
			return
		}
		if time.Since(began) > 20*time.Second {
			w.t.Fatal("it does not wait")
		}
	}
}

func newWaiters(t *testing.T, l Limits) waiters {
	l, err := l.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return waiters{t: t, a: newAdmission(l), admitted: make(chan string, 100)}
}

// However many executions one subject queues, another's is next.
func TestSubjectsTakeTurns(t *testing.T) {
	w := newWaiters(t, Limits{MaxConcurrentExecutions: 1})
	if err := w.a.enter(t.Context(), "loud"); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		w.enter("loud")
	}
	w.enter("quiet")
	w.enter("quiet")
	w.enter("third")
	last, got := "loud", []string(nil)
	for range 7 {
		w.a.leave(last)
		last = <-w.admitted
		got = append(got, last)
	}
	w.a.leave(last)
	firsts := slices.Sorted(slices.Values(got[:3]))
	if !slices.Equal(firsts, []string{"loud", "quiet", "third"}) || !slices.Contains(got[3:5], "quiet") {
		t.Errorf("admitted %v", got)
	}
	if len(w.a.lines) != 0 || w.a.free != 1 || w.a.waiting != 0 {
		t.Errorf("left behind: %+v", w.a)
	}
}

// A subject whose executions take long does not get the places of others.
func TestWhoRunsLessIsNext(t *testing.T) {
	w := newWaiters(t, Limits{MaxConcurrentExecutions: 3})
	for _, who := range []string{"loud", "loud", "quiet"} {
		if err := w.a.enter(t.Context(), who); err != nil {
			t.Fatal(err)
		}
	}
	w.enter("loud")
	w.enter("quiet")
	w.a.leave("loud") // one of each runs; quiet was served last
	if who := <-w.admitted; who != "loud" {
		t.Errorf("%s is next", who)
	}
	w.a.leave("loud")
	if who := <-w.admitted; who != "quiet" {
		t.Errorf("%s is next", who)
	}
}

// Subjects that come back as soon as they were served do not keep the place from
// one who waits all the while.
func TestComingBackGetsNobodyAhead(t *testing.T) {
	w := newWaiters(t, Limits{MaxConcurrentExecutions: 1})
	if err := w.a.enter(t.Context(), "patient"); err != nil {
		t.Fatal(err)
	}
	w.enter("patient")
	w.enter("a")
	w.enter("b")
	last, got := "patient", []string(nil)
	for len(got) < 6 && !slices.Contains(got, "patient") {
		w.a.leave(last)
		if last != "patient" {
			w.enter(last)
		}
		last = <-w.admitted
		got = append(got, last)
	}
	if !slices.Contains(got[:min(len(got), 3)], "patient") {
		t.Errorf("admitted %v", got)
	}
}

// A full line refuses at once, and names its limit.
func TestFullLinesRefuseAtOnce(t *testing.T) {
	w := newWaiters(t, Limits{MaxConcurrentExecutions: 1, MaxQueuedPerSubject: 2, MaxQueuedExecutions: 3})
	if err := w.a.enter(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	w.enter("a")
	w.enter("a")
	refused := func(who, limit string, bound int64) {
		t.Helper()
		var f *fault.Fault
		if err := w.a.enter(t.Context(), who); !errors.As(err, &f) || f.Class != fault.Limit || f.Limit != limit || f.Bound != bound ||
			!strings.Contains(f.Message, fmt.Sprintf("%s is %d", limit, bound)) {
			t.Errorf("%s: got %v", who, err)
		}
	}
	refused("a", fault.MaxQueuedPerSubject, 2)
	w.enter("b")
	refused("c", fault.MaxQueuedExecutions, 3)
	if _, there := w.a.lines["c"]; there {
		t.Error("a refused subject is remembered")
	}
}

// However many subjects fill their lines, the next one finds a place.
func TestLinesLeaveRoomForOthers(t *testing.T) {
	w := newWaiters(t, Limits{MaxConcurrentExecutions: 1, MaxQueuedPerSubject: 4, MaxQueuedExecutions: 12})
	if err := w.a.enter(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	inLine := func() map[string]int {
		w.a.mu.Lock()
		defer w.a.mu.Unlock()
		got := map[string]int{}
		for who, l := range w.a.lines {
			got[who] = len(l.waiting)
		}
		return got
	}
	for _, who := range []string{"a", "b", "c", "d", "e"} {
		for range 4 {
			w.a.mu.Lock()
			l := w.a.lines[who]
			full := l != nil && w.a.full(l) != nil
			w.a.mu.Unlock()
			if full {
				break
			}
			w.enter(who)
		}
		if inLine()[who] == 0 {
			t.Errorf("%s finds no place: %v", who, inLine())
		}
	}
	if got := inLine(); got["a"] != 4 || got["b"] != 4 || got["c"] != 2 {
		t.Errorf("%v", got)
	}
	// Who has a place takes none of the last ones.
	var f *fault.Fault
	if err := w.a.enter(t.Context(), "c"); !errors.As(err, &f) || f.Limit != fault.MaxQueuedExecutions || f.Hint == "" {
		t.Errorf("%v", err)
	}
	for last, left := "first", 12; left > 0; left-- {
		w.a.leave(last)
		last = <-w.admitted
		if left == 1 {
			w.a.leave(last)
		}
	}
}

// Whoever gives up while it waits takes no place, nor leaves one unused.
func TestGivingUpWhileWaiting(t *testing.T) {
	w := newWaiters(t, Limits{MaxConcurrentExecutions: 2, MaxQueuedPerSubject: 100})
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*time.Millisecond)
			defer cancel()
			who := fmt.Sprint("s", i%5)
			if err := w.a.enter(ctx, who); err == nil {
				time.Sleep(time.Millisecond)
				w.a.leave(who)
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if w.a.free != 2 || w.a.waiting != 0 || len(w.a.lines) != 0 {
		t.Errorf("left behind: %+v", w.a)
	}
	w.a.close()
	w.a.close()
	if err := w.a.enter(t.Context(), "s"); !errors.Is(err, errShut) {
		t.Errorf("after close: %v", err)
	}
}

// Seen from outside: one subject's endless programs, and another who waits.
func TestExecuteRefusesWhenTheQueueIsFull(t *testing.T) {
	s := build(t, Options{Limits: Limits{MaxConcurrentExecutions: 1, MaxQueuedPerSubject: 1, MaxExecutionTime: time.Minute}},
		NewCapability(lookupInfo(), func(ctx context.Context, _ lookupInput) (record, error) { <-ctx.Done(); return record{}, ctx.Err() }))
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			if _, err := s.Execute(ctx, authz.Local(), lookupProgram); !errors.Is(err, ErrCancelled) {
				t.Errorf("got %v", err)
			}
		})
	}
	for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
		s.admission.mu.Lock()
		waiting = s.admission.waiting
		s.admission.mu.Unlock()
	}
	x, err := s.Execute(t.Context(), authz.Local(), lookupProgram)
	if !errors.Is(err, ErrResourceLimit) || !strings.Contains(err.Error(), "MaxQueuedPerSubject is 1") {
		t.Errorf("got %v", err)
	}
	if x.Receipt.Execution == "" || len(x.Receipt.Calls) != 0 {
		t.Errorf("receipt %+v", x.Receipt)
	}
	cancel()
	group.Wait()
}
