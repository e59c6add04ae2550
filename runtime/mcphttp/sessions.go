package mcphttp

import (
	"context"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions counts those of the older era, which live between requests, and the
// streams of the current one that wait for news.
type sessions struct {
	most, mostOfOne int

	mu        sync.Mutex
	live      int
	bySubject map[string]int
	waiting   sync.WaitGroup // for goroutines that wait for an end
}

func newSessions(l Limits) *sessions {
	return &sessions{most: l.MaxSessions, mostOfOne: l.MaxSessionsPerSubject, bySubject: map[string]int{}}
}

// enter takes a place for subject, or says which limit is reached.
func (s *sessions) enter(subject string) (refusal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.bySubject[subject] >= s.mostOfOne:
		return fmt.Sprintf("you have %d sessions already (MaxSessionsPerSubject); end one that is not used, or wait until it times out", s.mostOfOne)
	case s.live >= s.most:
		return fmt.Sprintf("%d sessions are open (MaxSessions); try again later", s.most)
	}
	s.live++
	s.bySubject[subject]++
	return ""
}

func (s *sessions) leave(subject string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live--
	if s.bySubject[subject]--; s.bySubject[subject] == 0 {
		delete(s.bySubject, subject)
	}
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// admit bounds sessions: it looks at what begins one, and holds the place
// until the session ends.
func (s *sessions) admit(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if method != "initialize" && method != listenMethod {
			return next(ctx, method, request)
		}
		subject, _ := subjectOf(request)
		who := subject.String()
		if refusal := s.enter(who); refusal != "" {
			return nil, &jsonrpc.Error{Code: codeRefused, Message: refusal}
		}
		session, ok := request.GetSession().(*mcp.ServerSession)
		if method == "initialize" && ok && session.InitializeParams() == nil {
			s.waiting.Go(func() {
				defer s.leave(who)
				_ = session.Wait() // how it ended is the client's matter
			})
			return next(ctx, method, request)
		}
		defer s.leave(who)
		return next(ctx, method, request)
	}
}
