package host

import (
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A log that cannot be written, because its disk is full or whoever reads it
// has gone, costs its lines and nothing else.
func TestLogThatCannotBeWritten(t *testing.T) {
	for name, open := range map[string]func() (*os.File, error){
		"full disk": func() (*os.File, error) { return os.OpenFile("/dev/full", os.O_WRONLY, 0) },
		"no reader": func() (*os.File, error) {
			r, w, err := os.Pipe()
			if err == nil {
				err = r.Close()
			}
			return w, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			address := unused(t)
			cmd := childCommand(t, "http", "--listen", address)
			cmd.Stderr = log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := false
			defer func() {
				if !ended {
					cmd.Process.Kill()
					cmd.Wait()
				}
			}()
			for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
				if response, err := http.Get("http://" + address + "/readyz"); err == nil {
					response.Body.Close()
					break
				}
				if time.Since(began) > 20*time.Second {
					t.Fatal("it does not serve")
				}
			}
			s, err := dial(t, "http://"+address+"/mcp", "", "2026-07-28")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 3 { // each is a line of the log
				if got := executeOver(t, s, "clock.wait(millis=1)"); !strings.Contains(got, "waited") {
					t.Error(got)
				}
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			ended = true
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// unused is an address on which nobody listens: this server cannot say where
// it is.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
