package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
)

// A capability that was renamed is told of under its old names, and dispatched
// under none of them; one that is disabled is not told of.
func TestOldNames(t *testing.T) {
	info := lookupInfo()
	info.Was = []string{"records.get", "old.get"}
	calls := 0
	counted := NewCapability(info, func(ctx context.Context, in lookupInput) (record, error) {
		calls++
		return lookup(ctx, in)
	})
	off := lookupInfo()
	off.ID, off.Name, off.Was = "off", "records.off", []string{"records.gone"}
	off.Binding = strings.ReplaceAll(off.Binding, `"id":"rec-1","name":"records.lookup"`, `"id":"off","name":"records.off"`)
	s := build(t, Options{DisabledCapabilities: []string{"off"}}, counted, NewCapability(off, lookup))

	d, err := s.Describe(t.Context(), authz.Local(), []string{"records.get", "records.gone", "records.nothing"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(DescribeResult{
		Capabilities: []Description{}, NotFound: []string{"records.get", "records.gone", "records.nothing"}, Truncated: []string{},
		Renamed: map[string]string{"records.get": "records.lookup"},
	}, d); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"records.get", "old.get"} {
		_, err := s.Execute(t.Context(), authz.Local(), "def main():\n    return "+name+"(key = 'a')\n")
		if !errors.Is(err, ErrCapabilityNotFound) || !strings.Contains(err.Error(), "it was renamed to records.lookup") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Execute(t.Context(), authz.Local(), "def main():\n    return records.gone(key = 'a')\n"); err == nil || strings.Contains(err.Error(), "records.off") {
		t.Errorf("a disabled capability is named: %v", err)
	}
	if names := hitNames(found(t, s, SearchRequest{Query: "old.get"})); len(names) != 1 || names[0] != "records.lookup" {
		t.Errorf("search for an old name: %v", names)
	}
	if calls > 0 {
		t.Error("an old name was dispatched")
	}
}

func TestDescribeSaysDeprecated(t *testing.T) {
	info := lookupInfo()
	info.Deprecated = &Deprecation{Since: "2026-11-29", Use: "records.find"}
	d, err := build(t, Options{}, NewCapability(info, lookup)).Describe(t.Context(), authz.Local(), []string{"records.lookup"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"effect":"read","deprecated":{"since":"2026-11-29","use":"records.find"}`) {
		t.Errorf("%s", text)
	}
}

// Old names that stand twice are refused, and too many.
func TestOldNamesAreChecked(t *testing.T) {
	for want, was := range map[string][]string{
		"an old name twice":          {"a.b", "a.b"},
		"expected a capability name": {"a"},
		"17 old names, at most 16":   make([]string, 17),
	} {
		info := lookupInfo()
		info.Was = was
		b := NewBuilder(Options{Authorizer: authz.AllowAll()})
		b.Register(NewCapability(info, lookup))
		if _, err := b.Build(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
