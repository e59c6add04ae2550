package mcphttp

import (
	"flag"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

var soak = flag.Bool("soak", false, "open ten thousand sessions")

// With a session, a lost connection is no cancel: the call ends by itself, and
// the session can go on (MCP specification 2025-11-25, Transports).
func TestLostConnectionOfASession(t *testing.T) {
	f := start(t, Options{})
	id, _ := f.initialize()
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait","arguments":{}}}`
	c, err := net.Dial("tcp", f.address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s", id, len(call), call)
	f.began()
	c.Close()
	soon(t, "the request is over", func() bool { return f.server.owed.Load() == 0 })
	select {
	case err := <-f.left:
		t.Fatalf("the call ended with its connection: %v", err)
	default:
	}
	close(f.release)
	if err := f.ended(); err != nil {
		t.Error(err)
	}
	if a := f.send("POST", f.url, strings.NewReplacer("wait", "who", "7", "8").Replace(call), "Mcp-Session-Id: "+id, "Mcp-Protocol-Version: 2025-11-25"); a.status != 200 || !strings.Contains(a.body, "development") {
		t.Errorf("the session is lost: %d %s", a.status, a.body)
	}
}

func TestHalfOpenConnections(t *testing.T) {
	t.Parallel()
	f := start(t, Options{Limits: Limits{HeaderTimeout: 300 * time.Millisecond}})
	for _, sent := range []string{"", "P", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: "} {
		c, err := net.Dial("tcp", f.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, sent); err != nil {
			t.Fatal(err)
		}
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Errorf("%q: the connection stays: %v", sent, err)
		}
	}
}

// Sessions that nobody uses are bounded in number, and cost little.
func TestManyIdleSessions(t *testing.T) {
	limits, opened := Limits{MaxSessions: 150, MaxSessionsPerSubject: 100}, 200
	if *soak {
		limits, opened = Limits{MaxSessionsPerSubject: DefaultMaxSessions}, 10_000
	}
	f := start(t, Options{Limits: limits})
	most := f.server.limits.MaxSessionsPerSubject
	before := heap()
	var mu sync.Mutex
	got, refused := 0, 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range opened / 8 {
				_, a := f.initialize()
				mu.Lock()
				if strings.Contains(a.body, "MaxSessionsPerSubject") {
					refused++
				} else if a.status == 200 {
					got++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("%d sessions, %d refused, %d bytes of memory a session", got, refused, (heap()-before)/int64(got))
	if got != most || refused != opened-most || f.server.sessions.count() != most {
		t.Errorf("%d sessions, %d refused, %d live; want %d", got, refused, f.server.sessions.count(), most)
	}
	if a := f.send("POST", f.url, modernCall("who", "{}"), modernHeaders("tools/call", "who")...); a.status != 200 {
		t.Errorf("a request without a session: %d", a.status)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
