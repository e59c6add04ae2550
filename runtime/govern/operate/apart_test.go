package operate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestApart: what decides about changes is never below what programs can read.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, d := range []string{at("root", "deep", "state"), at("state", "root"), at("rootless")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{at("trust"), at("root", "trust")} {
		if err := os.WriteFile(f, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": at("root", "deep"), "alias": at("root")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ state, trust, root, want string }{
		"apart":                     {at("state"), at("trust"), at("root"), ""},
		"no trust root":             {at("state"), "", at("root"), ""},
		"a trust root not there":    {at("state"), at("none"), at("root"), ""},
		"a name that only begins":   {at("rootless"), at("trust"), at("root"), ""},
		"below":                     {at("root", "deep", "state"), at("trust"), at("root"), "the state directory lies below"},
		"below, and not there yet":  {at("root", "new", "state"), at("trust"), at("root"), "the state directory lies below"},
		"a new trust root below":    {at("state"), at("root", "new"), at("root"), "the trust root lies below"},
		"nothing is there":          {at("x", "state"), at("x", "trust"), at("x", "root"), ""},
		"the same":                  {at("root"), at("trust"), at("root"), "the state directory lies below"},
		"below by a link":           {at("link", "state"), at("trust"), at("root"), "the state directory lies below"},
		"below what a link names":   {at("root", "deep", "state"), at("trust"), at("alias"), "the state directory lies below"},
		"a root below":              {at("state"), at("trust"), at("state", "root"), "lies below the state directory"},
		"a trust root below":        {at("state"), at("root", "trust"), at("root"), "the trust root lies below"},
		"a trust root below a link": {at("state"), at("alias", "trust"), at("root"), "the trust root lies below"},
	} {
		err := apart(c.state, c.trust, map[string]string{"docs": c.root})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestAccountsOfCandidates(t *testing.T) {
	for text, want := range map[string]accountRange{
		"70000-70000": {70_000, 1}, "1-65536": {1, 65_536}, "4294967294-4294967294": {4_294_967_294, 1},
	} {
		var r accountRange
		if err := r.Set(text); err != nil || r != want || r.text() != text || !r.has(r.first) || r.has(r.first-1) || r.has(r.first+r.n) {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	for _, text := range []string{"", "1", "-", "0-1", "2-1", "1-", "-1", "a-b", "1-65537", "4294967295-4294967295", "1-4294967295", "1-2-3", "1-18446744073709551617"} {
		var r accountRange
		if err := r.Set(text); err == nil || r.n != 0 {
			t.Errorf("%s: %+v", text, r)
		}
	}
}
