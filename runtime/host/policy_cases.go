package host

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/scopes"
	"github.com/capgen/capgen/runtime/canon"
)

// The bounds of a file of cases, besides its size, which is maxSourceFile.
const (
	maxCases      = 10_000
	maxCaseText   = 2_000 // characters of a text in a case
	maxCaseScopes = 1_000
	// maxCaseDepth is beyond what a call's arguments may have: their own bound
	// is the server's.
	maxCaseDepth = 1_100
)

// policyCase is a call, and what is to be decided of it.
type policyCase struct {
	offset     int // in the file
	title      string
	subject    authz.Subject
	capability string // name or id
	arguments  []byte // JSON text
	at         int    // where they begin
	expect     authz.Outcome
	reason     string // a part of it; empty is any
}

// readCases reads a file of cases strictly. Each error is a *canon.Error, with
// its offset.
func readCases(text []byte, granted grant) ([]policyCase, error) {
	r := canon.NewJSONReader(text, maxCaseDepth)
	var seen canon.Seen
	var list []policyCase
	r.BeginObject()
	for r.NextMember() {
		if string(r.Key()) != "cases" {
			r.UnknownMember()
			continue
		}
		seen.Mark(r, 0)
		r.BeginArray(1, maxCases)
		for r.NextElement() {
			list = append(list, readCase(r, text, granted))
		}
	}
	r.Require(&seen, 0, "cases")
	return list, r.End()
}

// The members of a case.
const (
	caseTitle = iota
	caseSubject
	caseScopes
	caseCapability
	caseArguments
	caseExpect
	caseReason
)

func readCase(r *canon.Reader, text []byte, granted grant) (c policyCase) {
	var seen canon.Seen
	var names []string
	c.offset = r.Offset()
	c.arguments, c.at = []byte("{}"), c.offset
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "title":
			seen.Mark(r, caseTitle)
			c.title = r.String(0, maxCaseText)
		case "subject":
			seen.Mark(r, caseSubject)
			name := r.String(1, maxCaseText)
			subject, err := authz.ParseSubject(name)
			if err != nil {
				r.Fail(canon.CodePattern, err.Error())
			}
			c.subject = subject
		case "scopes":
			seen.Mark(r, caseScopes)
			names = readScopes(r)
		case "capability":
			seen.Mark(r, caseCapability)
			c.capability = r.String(1, maxCaseText)
		case "arguments":
			seen.Mark(r, caseArguments)
			c.at = r.Offset()
			if r.Peek() != canon.KindObject {
				r.BeginObject() // says what is there instead
				continue
			}
			r.Skip()
			c.arguments = bytes.TrimSpace(text[c.at:r.Offset()])
		case "expect":
			seen.Mark(r, caseExpect)
			switch r.Enum("allow", "deny", "fail") {
			case "allow":
				c.expect = authz.Allowed
			case "deny":
				c.expect = authz.Denied
			default:
				c.expect = authz.Failed
			}
		case "reason":
			seen.Mark(r, caseReason)
			c.reason = r.String(1, maxCaseText)
		default:
			r.UnknownMember()
		}
	}
	r.Require(&seen, caseSubject, "subject")
	r.Require(&seen, caseCapability, "capability")
	r.Require(&seen, caseExpect, "expect")
	switch {
	case seen.Has(caseScopes):
		c.subject.Scopes = authz.ScopesOf(names...)
	case c.subject.Kind == authz.KindOIDC:
		r.Require(&seen, caseScopes, "scopes") // a token has exactly its own
	default:
		c.subject.Scopes = authz.AllScopes()
		c.subject = granted.to(c.subject)
	}
	if c.reason != "" && c.expect == authz.Allowed {
		r.Fail(canon.CodeEnum, "what is allowed has no reason")
	}
	return c
}

func readScopes(r *canon.Reader) (names []string) {
	r.BeginArray(0, maxCaseScopes)
	for r.NextElement() {
		name := r.String(1, scopes.MaxScope)
		if _, err := scopes.Of(name); r.Err() == nil && err != nil {
			r.Fail(canon.CodePattern, err.Error())
		}
		names = append(names, name)
	}
	return names
}

// position is the line and the column of an offset, both from 1; columns count
// bytes.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(max(offset, 0), len(text))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// placed is err with the file and the place that it speaks of.
func placed(file string, text []byte, err error) error {
	var refused *canon.Error
	if !errors.As(err, &refused) {
		return fmt.Errorf("%s: %w", file, err)
	}
	line, column := position(text, refused.Offset)
	return fmt.Errorf("%s:%d:%d: error: %w", file, line, column, err)
}
