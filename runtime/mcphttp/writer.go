package mcphttp

import (
	"net/http"
	"time"
)

// piece is how much of an answer a client must take within WriteTimeout.
const piece = 64 << 10

// patient bounds how long each piece of an answer may take to be read, and not
// the answer as a whole, which may be a stream without an end.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	status  int
}

func newPatient(w http.ResponseWriter, timeout time.Duration) *patient {
	return &patient{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}
}

// patiently bounds what the connection of a request may wait for: a body, of
// which nobody may read, and each piece of the answer.
func (s *Server) patiently(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := newPatient(w, s.limits.WriteTimeout)
		if r.ContentLength != 0 { // -1 is a body of unknown length
			if err := p.control.SetReadDeadline(time.Now().Add(s.limits.BodyTimeout)); err != nil {
				s.log.Error("read deadline", "error", err)
			}
		}
		s.metrics.begin()
		defer func() {
			s.metrics.end(p.status)
			// What net/http has buffered is written after this.
			if err := p.extend(); err != nil {
				s.log.Debug("write deadline", "error", err)
			}
		}()
		next.ServeHTTP(p, r)
	})
}

// Unwrap lets a ResponseController find the connection.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *patient) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *patient) Write(b []byte) (n int, err error) {
	if p.status == 0 {
		p.status = http.StatusOK
	}
	for first := true; first || len(b) > 0; first = false {
		part := b[:min(len(b), piece)]
		if err := p.extend(); err != nil {
			return n, err
		}
		m, err := p.ResponseWriter.Write(part)
		n += m
		if e := p.rest(); err == nil {
			err = e
		}
		if err != nil {
			return n, err
		}
		b = b[len(part):]
	}
	return n, nil
}

// FlushError is what a ResponseController calls.
func (p *patient) FlushError() error {
	if err := p.extend(); err != nil {
		return err
	}
	err := p.control.Flush()
	if e := p.rest(); err == nil {
		err = e
	}
	return err
}

// extend gives the next piece its time.
func (p *patient) extend() error {
	return p.control.SetWriteDeadline(time.Now().Add(p.timeout))
}

// rest takes the deadline away while nothing is to be written: in HTTP/2 it
// would end the stream.
func (p *patient) rest() error { return p.control.SetWriteDeadline(time.Time{}) }
