package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
)

// A client can ask for less time than the limit, and never for more.
func TestTimeoutOfARequest(t *testing.T) {
	waits := func(ctx context.Context, _ lookupInput) (record, error) {
		<-ctx.Done()
		return record{}, ctx.Err()
	}
	const program = "records.lookup(key='a')"
	// short is long enough for a call to begin on a busy machine.
	const short = 2 * time.Second
	for _, tt := range []struct {
		limit, asked time.Duration
		want         string
		bound        int64
	}{
		{time.Minute, short, fault.Timeout, 2_000},
		{short, time.Minute, fault.MaxExecutionTime, 2_000},
		{short, 0, fault.MaxExecutionTime, 2_000},
		{short, -1, fault.MaxExecutionTime, 2_000},
	} {
		t.Run(fmt.Sprint(tt.limit, tt.asked), func(t *testing.T) {
			t.Parallel()
			s := build(t, Options{Limits: Limits{MaxExecutionTime: tt.limit}}, NewCapability(lookupInfo(), waits))
			x, err := s.Execute(t.Context(), authz.Local(), program, WithTimeout(tt.asked))
			var e *Error
			if !errors.As(err, &e) || e.Fault().Class != fault.Limit || e.Fault().Limit != tt.want || e.Fault().Bound != tt.bound || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("%v", err)
			}
			if len(x.Receipt.Calls) != 1 || x.Receipt.Calls[0].State == CallDone {
				t.Errorf("%+v", x.Receipt)
			}
		})
	}
}

// Whoever watches hears of each call once, as the receipt has it.
func TestWatch(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	var mu sync.Mutex
	var watched []CallRecord
	x, err := s.Execute(t.Context(), authz.Local(), `
def main():
    records.lookup(key="a")
    attempt(lambda: records.lookup(key=1))
    parallel([lambda: records.lookup(key="b"), lambda: records.lookup(key="c")])
    return records.lookup(key="d").count
`, WithWatch(func(c CallRecord) {
		mu.Lock()
		defer mu.Unlock()
		watched = append(watched, c)
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(watched) != 5 {
		t.Fatalf("watched %+v", watched)
	}
	bySequence := make([]CallRecord, len(watched))
	for _, c := range watched {
		bySequence[c.Sequence-1] = c
	}
	if diff := cmp.Diff(x.Receipt.Calls, bySequence); diff != "" {
		t.Errorf("receipt (-), watched (+): %s", diff)
	}
}
