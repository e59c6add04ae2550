package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/mcpserver"
)

// search prints the answer of search_api, or with --explain what it is made of.
func (p *program) search(ctx context.Context, s session) int {
	if s.search.limit < 1 { // zero would be the default of ExplainSearch
		return p.misuse(fmt.Errorf("--limit is at least 1, not %d", s.search.limit))
	}
	r := runtime.SearchRequest{Query: strings.Join(s.arguments, " "), Namespace: s.search.namespace}
	arguments := map[string]any{"query": r.Query, "namespace": r.Namespace}
	if s.search.limit != noSearchFlags().limit { // the host's own default may be lower
		r.Limit = s.search.limit
		arguments["limit"] = r.Limit
	}
	if s.search.explain {
		return p.explainSearch(ctx, s, r)
	}
	answer, code := p.call(ctx, s, mcpserver.SearchTool, arguments)
	if code != ExitOK {
		return code
	}
	return p.print(string(answer.whole) + "\n")
}

// explainer is a runtime that can tell why a search finds what it finds.
type explainer interface {
	ExplainSearch(ctx context.Context, subject authz.Subject, r runtime.SearchRequest) ([]runtime.SearchExplanation, error)
}

// explainSearch prints a line a capability, with its score, and a line a term
// with what it adds. It is for those who write the texts of a manifest, so
// unlike search_api it also tells what search phrases hold.
func (p *program) explainSearch(ctx context.Context, s session, r runtime.SearchRequest) int {
	server, ok := s.runtime.(explainer)
	if !ok {
		return p.broken(errors.New("this server does not explain searches"))
	}
	hits, err := server.ExplainSearch(ctx, authz.Local(), r)
	if err != nil {
		fmt.Fprintf(p.stderr, "%s: %v\n", p.options.Name, err)
		return ExitFailed
	}
	if len(hits) == 0 {
		fmt.Fprintf(p.stderr, "%s: nothing matches\n", p.options.Name)
		return ExitOK
	}
	var b strings.Builder
	for _, hit := range hits {
		weak := ""
		if hit.Weak {
			weak = "  weak"
		}
		fmt.Fprintf(&b, "%7.2f  %s%s\n", hit.Score, hit.Name, weak)
		for _, term := range hit.Terms {
			fmt.Fprintf(&b, "%15.2f  %s\n", term.Score, visible.Text(term.Text))
		}
	}
	return p.print(b.String())
}
