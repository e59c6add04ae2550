package runtime

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/search"
)

// DefaultSearchResults is how many hits a search returns that does not say how
// many it wants, or MaxSearchResults if that is less.
const DefaultSearchResults = 10

// SearchRequest is what is looked for.
type SearchRequest struct {
	// Query in words, of at most MaxSearchQueryBytes. An exact dotted name in it
	// comes first.
	Query string
	// Namespace keeps only capabilities in it or below it. Empty keeps all.
	Namespace string
	// Limit is 1 to MaxSearchResults; zero is DefaultSearchResults.
	Limit int
}

// SearchHit is one capability that matches a query.
type SearchHit struct {
	Name      string `json:"name"`
	Signature string `json:"signature"`
	Summary   string `json:"summary"`
}

// NamespaceCount is a namespace and how many enabled capabilities it holds.
type NamespaceCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// SearchResult answers a search. Its lists are never nil.
type SearchResult struct {
	Results []SearchHit `json:"results"`
	// Truncated: more matched than the limit or MaxSearchResponseBytes let
	// through.
	Truncated bool `json:"truncated"`
	// Weak: even the best match holds less than a third of what the query asks
	// for, or nothing matches.
	Weak bool `json:"weak"`
	// Namespaces are filled for a blank query and when nothing matches: those
	// in the namespace that was asked for, or all where it holds nothing.
	Namespaces []NamespaceCount `json:"namespaces"`
}

// Search finds capabilities by words. It needs a subject but is not filtered
// by policy. A blank query answers with the namespaces; a query above
// MaxSearchQueryBytes is an error. The answer depends on the enabled
// capabilities and the request alone. Failures are *Error.
func (s *Server) Search(_ context.Context, subject authz.Subject, r SearchRequest) (SearchResult, error) {
	result := SearchResult{Results: []SearchHit{}, Namespaces: []NamespaceCount{}}
	limit, failed := s.searchLimit(subject, r)
	if failed != nil {
		return result, failed
	}
	hits := s.catalog.index.Search(r.Query, search.Options{Namespace: r.Namespace, Max: limit + 1})
	budget := s.limits.MaxSearchResponseBytes - 128 // what stands around the lists
	for i, h := range hits {
		info := s.catalog.entries[h.Document].info
		hit := SearchHit{Name: info.Name, Signature: info.Signature, Summary: info.Summary}
		if budget -= jsonSize(hit); i == limit || budget < 0 {
			result.Truncated = true
			break
		}
		result.Results = append(result.Results, hit)
	}
	result.Weak = len(hits) == 0 || hits[0].Weak
	if len(hits) == 0 {
		result.Namespaces, result.Truncated = s.namespaces(r.Namespace, budget)
	}
	return result, nil
}

// searchLimit checks a request and tells how many hits it gets.
func (s *Server) searchLimit(subject authz.Subject, r SearchRequest) (int, error) {
	max := s.limits.MaxSearchResults
	switch {
	case subject.IsZero():
		return 0, &Error{fault.Fault{Class: fault.Unauthenticated, Message: "no subject"}}
	case len(r.Query) > s.limits.MaxSearchQueryBytes:
		return 0, &Error{*fault.Reached(fault.MaxSearchQueryBytes, int64(s.limits.MaxSearchQueryBytes), "the query has %d bytes", len(r.Query))}
	case len(r.Namespace) > MaxNameBytes:
		return 0, &Error{fault.Fault{Class: fault.InvalidArguments, Path: "namespace", Message: fmt.Sprintf("a namespace has at most %d bytes", MaxNameBytes)}}
	case r.Limit < 0 || r.Limit > max:
		return 0, &Error{fault.Fault{Class: fault.InvalidArguments, Path: "limit", Message: fmt.Sprintf("expected 1 to %d (MaxSearchResults), got %d", max, r.Limit)}}
	}
	return cmp.Or(r.Limit, min(DefaultSearchResults, max)), nil
}

// namespaces are those of the catalog in one of them, or all where it holds
// nothing, as many as fit.
func (s *Server) namespaces(in string, budget int) (list []NamespaceCount, truncated bool) {
	list = []NamespaceCount{}
	for _, n := range s.catalog.namespaces {
		if in != "" && n.Name != in && !strings.HasPrefix(n.Name, in+".") {
			continue
		}
		if budget -= jsonSize(n); budget < 0 {
			return list, true
		}
		list = append(list, n)
	}
	if in != "" && len(list) == 0 {
		return s.namespaces("", budget)
	}
	return list, false
}

// SearchExplanation says of one hit why it stands where it does.
type SearchExplanation struct {
	Name  string
	Score float64
	Weak  bool
	// Terms that match, the weightiest first.
	Terms []SearchTerm
}

// SearchTerm is a term of the query and what it adds to the score. A pair of
// words that stand side by side is a term, and so is "folder = directori", the
// stem of a synonym, or of what a misspelt word may mean.
type SearchTerm = search.Term

// ExplainSearch is Search for those who write the texts: it tells scores and
// terms, also of search phrases. It is not for clients. Failures are *Error.
func (s *Server) ExplainSearch(_ context.Context, subject authz.Subject, r SearchRequest) ([]SearchExplanation, error) {
	limit, failed := s.searchLimit(subject, r)
	if failed != nil {
		return nil, failed
	}
	var out []SearchExplanation
	for _, h := range s.catalog.index.Search(r.Query, search.Options{Namespace: r.Namespace, Max: limit}) {
		out = append(out, SearchExplanation{
			Name: s.catalog.entries[h.Document].info.Name, Score: h.Score, Weak: h.Weak,
			Terms: s.catalog.index.Explain(r.Query, h.Document),
		})
	}
	return out, nil
}
