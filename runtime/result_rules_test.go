package runtime

import (
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
)

func TestResultRulesAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		rules ResultRules
		want  string
	}{
		"no pointer":  {ResultRules{Keep: []string{"items"}}, "is no pointer"},
		"overlapping": {ResultRules{Keep: []string{"/a", "/a/b"}}, "what is kept already"},
		"negative":    {ResultRules{Cut: Cut{Items: -1}}, "a positive number of items or bytes"},
		"no bound":    {ResultRules{Cut: Cut{List: "items"}}, "a positive number of items or bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			info := lookupInfo()
			info.Result = test.rules
			b := NewBuilder(Options{Authorizer: authz.AllowAll()})
			b.Register(NewCapability(info, lookup))
			if _, err := b.Build(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
