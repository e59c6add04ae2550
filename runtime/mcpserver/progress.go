package mcpserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/runtime"
)

const (
	// progressEvery is how often a client hears of a program that makes no
	// calls. Clients in the field give up after 60 s without a word.
	progressEvery = 5 * time.Second
	// progressWaiting bounds the notifications that a client has not taken;
	// what comes meanwhile is counted in the next one.
	progressWaiting = 64
)

// reporter tells a client of each native call that has ended, and that a
// program still runs. Native calls do not wait for it.
type reporter struct {
	ended chan runtime.CallRecord
	stop  chan struct{}
	done  sync.WaitGroup
}

// report begins to notify with token; a nil token is a client that does not
// want to hear. The returned reporter must be closed before the call is
// answered: progress ends with its request (MCP specification, Progress).
func report(ctx context.Context, session *mcp.ServerSession, token any, every time.Duration) *reporter {
	if token == nil || session == nil {
		return nil
	}
	r := &reporter{ended: make(chan runtime.CallRecord, progressWaiting), stop: make(chan struct{})}
	r.done.Go(func() {
		begin := time.Now()
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		var calls, told int
		for {
			var message string
			select {
			case <-r.stop:
				return
			case c := <-r.ended:
				calls = c.Sequence
				message = fmt.Sprintf("%s %s", c.Name, c.State)
			case <-ticker.C:
				message = fmt.Sprintf("running for %d s, %d calls", int(time.Since(begin).Seconds()), calls)
			}
			ticker.Reset(every)
			told++ // the value must rise with each notification, and no total is known
			err := session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(told), Message: message})
			if err != nil {
				return // the client has gone; what ends its call is not progress
			}
		}
	})
	return r
}

// options has an execution tell r of its calls.
func (r *reporter) options() []runtime.ExecuteOption {
	if r == nil {
		return nil
	}
	return []runtime.ExecuteOption{runtime.WithWatch(func(c runtime.CallRecord) {
		select {
		case r.ended <- c:
		default: // the client is slow: it will hear of a later one
		}
	})}
}

// close waits for the last notification.
func (r *reporter) close() {
	if r != nil {
		close(r.stop)
		r.done.Wait()
	}
}
