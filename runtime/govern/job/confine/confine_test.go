package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every row says something of every tier.
func TestTableSaysAll(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Table() {
		if seen[r.Threat] || len(r.By) != len(Tiers()) {
			t.Errorf("%q: %d tiers", r.Threat, len(r.By))
		}
		seen[r.Threat] = true
		for _, tier := range Tiers() {
			if h := r.By[tier]; h != Refused && h != Contained && h != Open {
				t.Errorf("%q, %s: %q", r.Threat, tier, h)
			}
		}
	}
}

// What is enough for another tier leaves nothing open that the other one does not.
func TestAtLeast(t *testing.T) {
	strength := map[Holds]int{Open: 0, Contained: 1, Refused: 2}
	for _, have := range Tiers() {
		for _, want := range Tiers() {
			if !have.AtLeast(want) {
				continue
			}
			for _, r := range Table() {
				if strength[r.By[have]] < strength[r.By[want]] {
					t.Errorf("%s is not enough for %s: %s", have, want, r.Threat)
				}
			}
		}
	}
	for _, c := range []struct {
		have, want Tier
		enough     bool
	}{
		{Namespaces, Landlock, true}, {Landlock, Landlock, true}, {Landlock, Namespaces, false}, {None, Landlock, false}, {Landlock, None, true},
		{Worker, Namespaces, true}, {Namespaces, Worker, false}, {"", None, false}, {None, "", false}, {"jail", "jail", false},
	} {
		if got := c.have.AtLeast(c.want); got != c.enough {
			t.Errorf("%q for %q: %t", c.have, c.want, got)
		}
	}
}

func TestValid(t *testing.T) {
	const box = "/var/lib/x/jobs/j/box"
	good := Spec{Tier: Landlock, Box: box, Read: []string{"/usr", "/lib", "/procedures"}, Apart: "/var/lib/x", UID: 70, GID: 70}
	if err := good.valid(0); err != nil {
		t.Error(err)
	}
	if err := (Spec{Tier: Namespaces, Box: box}).valid(1000); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		change func(*Spec)
		uid    int
		err    error
	}{
		"no tier":               {func(s *Spec) { s.Tier = "" }, 0, nil},
		"another tier":          {func(s *Spec) { s.Tier = "jail" }, 0, nil},
		"no account":            {func(s *Spec) { s.UID, s.GID = 0, 0 }, 0, ErrAccount},
		"no account, user":      {func(s *Spec) { s.UID, s.GID = 0, 0 }, 1000, ErrAccount},
		"root in namespaces":    {func(s *Spec) { s.Tier, s.UID, s.GID = Namespaces, 0, 0 }, 0, ErrAccount},
		"the server's account":  {func(s *Spec) {}, 70, ErrAccount},
		"given by who is not":   {func(s *Spec) {}, 1000, os.ErrPermission},
		"the group of root":     {func(s *Spec) { s.GID = 0 }, 0, nil},
		"a negative account":    {func(s *Spec) { s.UID = -1 }, 0, nil},
		"a relative box":        {func(s *Spec) { s.Box = "box" }, 0, nil},
		"a box that is not":     {func(s *Spec) { s.Box = box + "/.." }, 0, nil},
		"a relative path":       {func(s *Spec) { s.Read = []string{"usr"} }, 0, nil},
		"a path with dots":      {func(s *Spec) { s.Read = []string{"/usr/.."} }, 0, nil},
		"everything":            {func(s *Spec) { s.Read = []string{"/"} }, 0, nil},
		"all boxes":             {func(s *Spec) { s.Read = []string{"/var/lib/x"} }, 0, nil},
		"the box":               {func(s *Spec) { s.Read = []string{box} }, 0, nil},
		"what is in the box":    {func(s *Spec) { s.Read = []string{box + "/out"} }, 0, nil},
		"apart by another way":  {func(s *Spec) { s.Apart = "/var/lib/x/../x" }, 0, nil},
		"what is kept apart":    {func(s *Spec) { s.Box, s.Read = "", []string{"/var/lib/x"} }, 0, nil},
		"beside other boxes":    {func(s *Spec) { s.Read = []string{"/var/lib/x/keys"} }, 0, nil},
		"above it":              {func(s *Spec) { s.Box, s.Read = "", []string{"/var"} }, 0, nil},
		"processes":             {func(s *Spec) { s.Read = []string{"/proc"} }, 0, nil},
		"a process":             {func(s *Spec) { s.Read = []string{"/proc/1"} }, 0, nil},
		"devices":               {func(s *Spec) { s.Read = []string{"/usr", "/dev/shm"} }, 0, nil},
		"what the box would be": {func(s *Spec) { s.Read = []string{"/box"} }, 0, nil},
	} {
		s := good
		c.change(&s)
		if err := s.valid(c.uid); err == nil || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who wants to know before is told of what links lead to, too.
func TestReads(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"real/app/state", "real/lib"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		tier        Tier
		apart, read string
		ok          bool
	}{
		{Namespaces, "real/app/state", "link/lib", true},
		{Namespaces, "link/app/state", "real/lib", true},
		{Namespaces, "real/app/state", "link/app", false},
		{Landlock, "link/app/state", "real/app", false},
		{Landlock, "real/app", "link/app/state", false},
		{Landlock, "real/app", "real/none", false},
		{None, "real/app/state", "link/app", true},
		{Worker, "real/app/state", "link/app", true},
	} {
		s := Spec{Tier: c.tier, Apart: filepath.Join(dir, c.apart), Read: []string{filepath.Join(dir, c.read)}}
		if err := s.Reads(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := (Spec{Tier: Landlock, Apart: filepath.Join(dir, "gone")}).Reads(); err == nil {
		t.Error("kept apart from what is not there")
	}
}

// The page of jobs shows the very table.
func TestDocumentedTable(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/reference/jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| A candidate tries to |")
	for _, tier := range Tiers() {
		fmt.Fprintf(&b, " `%s` |", tier)
	}
	b.WriteString("\n|---|---|---|---|---|\n")
	for _, r := range Table() {
		fmt.Fprintf(&b, "| %s |", r.Threat)
		for _, tier := range Tiers() {
			fmt.Fprintf(&b, " %s |", r.By[tier])
		}
		b.WriteString("\n")
	}
	if !strings.Contains(string(page), "\n"+b.String()+"\n") {
		t.Errorf("docs/reference/jobs.md does not have the table of tiers, which is\n%s", b.String())
	}
}
