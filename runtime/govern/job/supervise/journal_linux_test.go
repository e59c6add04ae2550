package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/token"
)

// fileJournal is a Journal in a directory, for several processes.
type fileJournal string

// record is what the directory keeps of the job.
type record struct {
	View
	Moves    []Move // all that have happened, in order
	Progress []string
}

// now is the moment by both clocks.
func now() token.Instant {
	var ts unix.Timespec
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return token.Instant{Wall: time.Now()}
	}
	return token.Instant{Wall: time.Now(), Boot: strings.TrimSpace(string(boot)), Up: time.Duration(ts.Nano())}
}

func newJournal(t *testing.T) fileJournal {
	t.Helper()
	f := fileJournal(t.TempDir())
	if err := f.change(func(r *record) error {
		r.State, r.Times.Created = job.Queued, now()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f fileJournal) read() (r record, err error) {
	text, err := os.ReadFile(filepath.Join(string(f), "record"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// change lets fn change the record, under a lock, at once or not at all.
func (f fileJournal) change(fn func(*record) error) error {
	lock, err := os.OpenFile(filepath.Join(string(f), "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	for unix.Flock(int(lock.Fd()), unix.LOCK_EX) != nil { // interrupted
	}
	r, err := f.read()
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := fn(&r); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(string(f), "next"), text, 0o600); err != nil {
		return err
	}
	return os.Rename(filepath.Join(string(f), "next"), filepath.Join(string(f), "record"))
}

func (f fileJournal) Look(context.Context) (View, error) {
	r, err := f.read()
	return r.View, err
}

func (f fileJournal) Move(_ context.Context, m Move) (job.State, error) {
	var state job.State
	err := f.change(func(r *record) error {
		if state = r.State; state != m.From {
			return ErrMoved
		}
		to, err := job.Next(m.From, m.Event, m.By, m.Empty)
		if err != nil {
			return err
		}
		if to.Ended() != (m.Message != "" || m.Result != nil) || (m.Failure != "") != (len(job.Failures(to)) > 0) {
			return fmt.Errorf("not how a job ends in %s: %+v", to, m)
		}
		if to == job.Running {
			r.Times.Begun = now()
		}
		r.State, state = to, to
		r.Moves = append(r.Moves, m)
		return nil
	})
	return state, err
}

func (f fileJournal) Keep(_ context.Context, h Handle) error {
	return f.change(func(r *record) error {
		if r.State != job.Starting {
			return ErrMoved
		}
		r.Handle = h
		return nil
	})
}

func (f fileJournal) Beat(_ context.Context, progress string) (job.State, error) {
	var state job.State
	err := f.change(func(r *record) error {
		if state = r.State; state.Active() {
			r.Beat = now()
			r.Progress = append(r.Progress, progress)
		}
		return nil
	})
	return state, err
}

// cancel is what a requester does.
func (f fileJournal) cancel() (job.State, error) {
	for {
		r, err := f.read()
		if err != nil {
			return "", err
		}
		m := Move{From: r.State, Event: job.EventCancel, By: job.ByRequester}
		if r.State == job.Queued {
			m.Failure, m.Message = job.FailCancelled, "cancelled"
		}
		state, err := f.Move(context.Background(), m)
		if err != ErrMoved {
			return state, err
		}
	}
}

// failing is a Journal of which one call fails.
type failing struct {
	Journal
	gate  *sync.RWMutex
	n     atomic.Int64
	at    int
	after bool // when it was done
	hang  bool // until nobody waits
}

var errJournal = errors.New("the journal has failed")

func (f *failing) Look(ctx context.Context) (v View, err error) {
	err = f.call(ctx, func() error { v, err = f.Journal.Look(ctx); return err })
	return v, err
}

func (f *failing) Move(ctx context.Context, m Move) (state job.State, err error) {
	err = f.call(ctx, func() error { state, err = f.Journal.Move(ctx, m); return err })
	return state, err
}

func (f *failing) Keep(ctx context.Context, h Handle) error {
	return f.call(ctx, func() error { return f.Journal.Keep(ctx, h) })
}

func (f *failing) Beat(ctx context.Context, progress string) (state job.State, err error) {
	err = f.call(ctx, func() error { state, err = f.Journal.Beat(ctx, progress); return err })
	return state, err
}

func (f *failing) call(ctx context.Context, do func() error) error {
	f.gate.RLock()
	defer f.gate.RUnlock()
	fails := f.n.Add(1) == int64(f.at)
	if !fails {
		return do()
	}
	if f.after {
		do()
	}
	if f.hang {
		<-ctx.Done()
	}
	return errJournal
}
