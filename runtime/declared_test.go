package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
)

// What a program learns of a handler's error, with and without declared ones.
func TestDeclaredErrors(t *testing.T) {
	declared := []DeclaredError{{"not_found", "No record has that key."}, {"too_many", "More than a page."}}
	const coarse = "the capability failed"
	for _, test := range []struct {
		name          string
		errors        []DeclaredError
		err           error
		code, message string
		logged        string
	}{
		{"declared", declared, ErrorCode("not_found"), "not_found", "No record has that key.", "level=INFO"},
		{"wrapped", declared, fmt.Errorf("secret: %w", ErrorCode("too_many")), "too_many", "More than a page.", "level=INFO"},
		{"with a message", declared, ErrorCode("not_found").Because("no a\x1b"), "not_found", "no a ", "level=INFO"},
		{"with an empty message", declared, ErrorCode("not_found").Because(""), "not_found", "No record has that key.", "level=INFO"},
		{"disclosed", declared, Disclose("not_found", "no a"), "not_found", "no a", "level=INFO"},
		{"undeclared", declared, Disclose("secret", "secret"), "", coarse, "level=ERROR"},
		{"undeclared code", declared, ErrorCode("secret"), "", coarse, "level=ERROR"},
		{"empty code", declared, Disclose("", "secret"), "", coarse, "level=ERROR"},
		{"not disclosed", declared, errors.New("secret"), "", coarse, "level=WARN"},
		{"no example", declared, CodeNoExample.Because("none for a"), "no_example", "none for a", "level=INFO"},
		{"nothing is declared", nil, Disclose("any", "of them"), "any", "of them", "level=INFO"},
		{"nothing is declared, no text", nil, ErrorCode("any"), "any", coarse, "level=INFO"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			info := lookupInfo()
			info.Errors = test.errors
			s := build(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))},
				NewCapability(info, func(context.Context, lookupInput) (record, error) { return record{}, test.err }))
			_, err := s.Execute(t.Context(), authz.Local(), lookupProgram)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			f := e.Fault()
			if f.Class != fault.CapabilityFailed || f.Code != test.code || f.Message != test.message || f.Capability != "records.lookup" {
				t.Errorf("got %+v", f)
			}
			if !strings.Contains(log.String(), test.logged+` msg="capability failed" capability=rec-1`) {
				t.Errorf("logged %s", &log)
			}
		})
	}
}

func TestErrorCodesAreFound(t *testing.T) {
	gone := ErrorCode("gone")
	for _, err := range []error{gone, gone.Because("it is"), fmt.Errorf("x: %w", gone.Because("it is")), Disclose("gone", "")} {
		if !errors.Is(err, gone) || errors.Is(err, ErrorCode("other")) {
			t.Errorf("%v is not %v", err, gone)
		}
	}
	if errors.Is(errors.New("gone"), gone) {
		t.Error("another error is the code")
	}
}

func TestBuildChecksDeclaredErrors(t *testing.T) {
	many := make([]DeclaredError, MaxDeclaredErrors+1)
	for name, test := range map[string]struct {
		errors []DeclaredError
		want   string
	}{
		"form":       {[]DeclaredError{{"Gone", "It is."}}, "the code of an error is a lower-case letter"},
		"empty":      {[]DeclaredError{{"", "It is."}}, "the code of an error is a lower-case letter"},
		"first":      {[]DeclaredError{{"_a", "It is."}}, "the code of an error is a lower-case letter"},
		"long":       {[]DeclaredError{{ErrorCode(strings.Repeat("a", 65)), "It is."}}, "of at most 64 bytes"},
		"reserved":   {[]DeclaredError{{CodeNoExample, "It is."}}, "reserved"},
		"twice":      {[]DeclaredError{{"a", "It is."}, {"a", "It is."}}, "declared twice"},
		"no text":    {[]DeclaredError{{"a", ""}}, "not one line of 1 to 256 bytes"},
		"lines":      {[]DeclaredError{{"a", "It\nis."}}, "not one line"},
		"long text":  {[]DeclaredError{{"a", strings.Repeat("x", 257)}}, "not one line"},
		"too many":   {many, "33 declared errors, the limit is 32"},
		"acceptable": {[]DeclaredError{{"a", strings.Repeat("x", 256)}, {"b_2", "It is."}}, ""},
	} {
		info := lookupInfo()
		info.Errors = test.errors
		_, problems := newCatalog([]Capability{NewCapability(info, lookup)}, nil)
		switch {
		case test.want == "" && len(problems) > 0, test.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].Error(), test.want)):
			t.Errorf("%s: %v, want %q", name, problems, test.want)
		}
	}
}
