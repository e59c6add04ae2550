package breaking

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/schema"
)

const today = "2026-11-29"

// side builds a manifest from what one side of a case says.
func side(t *testing.T, text string) *schema.Manifest {
	t.Helper()
	top := [][2]string{
		{"capgen", "1"}, {"go", "{package: example.com/x/generated}"}, {"server", "{name: x, version: 1.0.0}"},
		{"types", ""}, {"programs", ""}, {"deployments", ""}, {"lint", ""},
	}
	capability := [][2]string{
		{"name", "a.b"}, {"summary", "Do it."}, {"effect", "read"}, {"scopes", "none"},
		{"input", "{type: object, properties: {}}"}, {"output", "{type: string}"},
	}
	set := func(name, value string) {
		for _, list := range [][][2]string{top, capability} {
			if i := slices.IndexFunc(list, func(m [2]string) bool { return m[0] == name }); i >= 0 {
				list[i][1] = value
				return
			}
		}
		capability = append(capability, [2]string{name, value})
	}
	for part := range strings.SplitSeq(text, ";;") {
		part = strings.TrimSpace(part)
		if s, ok := strings.CutPrefix(part, "in "); ok {
			set("input", "{type: object, properties: {p: "+s+"}}")
		} else if s, ok := strings.CutPrefix(part, "out "); ok {
			set("output", s)
		} else if name, value, ok := strings.Cut(part, ": "); ok {
			set(name, value)
		} else if part != "" {
			t.Fatalf("no side: %q", part)
		}
	}
	var b strings.Builder
	for _, m := range top {
		if m[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", m[0], m[1])
		}
	}
	b.WriteString("capabilities:\n  -\n")
	also := ""
	for _, m := range capability {
		if m[0] == "also" { // a second capability
			also = "  - " + m[1] + "\n"
			continue
		}
		fmt.Fprintf(&b, "    %s: %s\n", m[0], m[1])
	}
	return load(t, b.String()+also)
}

func load(t *testing.T, text string) *schema.Manifest {
	t.Helper()
	m, diags := schema.Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
	if m == nil {
		t.Fatalf("%s\n%v", text, diags)
	}
	return m
}

func ruleIDs(r *Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.ID)
	}
	return out
}

// Each rule fires on one change at least, and stays quiet on a change that is
// near to it.
func TestRules(t *testing.T) {
	fired, quiet := map[string]int{}, map[string]int{}
	judge := func(at, id, word, sides string) {
		base, head, ok := strings.Cut(sides, "=>")
		if !ok {
			t.Fatalf("%s: no =>", at)
		}
		report := Compare(side(t, base), side(t, head), today)
		found := slices.Contains(ruleIDs(report), id)
		switch {
		case word == "fires" && !found:
			t.Errorf("%s: %s does not fire: %v", at, id, ruleIDs(report))
		case word == "quiet" && found:
			t.Errorf("%s: %s fires: %v", at, id, ruleIDs(report))
		case len(report.Findings) == 0:
			t.Errorf("%s: nothing is found: is there a difference?", at)
		case word == "fires":
			fired[id]++
		default:
			quiet[id]++
		}
	}
	f, err := os.Open("testdata/rules.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	id := ""
	for n := 1; lines.Scan(); n++ {
		at, line := fmt.Sprintf("rules.txt:%d", n), lines.Text()
		word, rest, _ := strings.Cut(line, ":")
		switch {
		case line == "" || line[0] == '#':
		case word == "fires" || word == "quiet":
			judge(at, id, word, rest)
		case strings.HasPrefix(word, "bounds "):
			keyword := kebab(strings.TrimPrefix(word, "bounds "))
			less, more, _ := strings.Cut(rest, "=>")
			for word, place := range map[string]string{"input": "in ", "output": "out "} {
				tighter, looser := place+less+"=>"+place+more, place+more+"=>"+place+less
				judge(at, word+"-"+keyword+"-tightened", "fires", looser)
				judge(at, word+"-"+keyword+"-tightened", "quiet", tighter)
				judge(at, word+"-"+keyword+"-loosened", "fires", tighter)
				judge(at, word+"-"+keyword+"-loosened", "quiet", looser)
			}
		default:
			id = line
		}
	}
	rules := Rules()
	for _, r := range rules {
		if fired[r.ID] == 0 || quiet[r.ID] == 0 {
			t.Errorf("%s: %d cases fire, %d are quiet; a rule needs one of each", r.ID, fired[r.ID], quiet[r.ID])
		}
		delete(fired, r.ID)
		delete(quiet, r.ID)
	}
	for id := range fired {
		t.Errorf("rules.txt has cases of %s, which is no rule", id)
	}
	t.Logf("%d rules", len(rules))
	if len(rules) < 60 {
		t.Errorf("%d rules", len(rules))
	}
}

// The table holds what it promises.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || r.ID == "" || r.Text == "" || !strings.HasSuffix(r.Text, ".") {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
		if r.Level == Breaking && len(r.Breaks) == 0 {
			t.Errorf("%s breaks nobody", r.ID)
		}
		if r.Level == Note && r.Category != Wire && len(r.Breaks) > 0 {
			t.Errorf("%s is a note and breaks %v", r.ID, r.Breaks)
		}
		if !slices.Contains([]Level{Breaking, Warning, Note}, r.Level) || !slices.Contains([]Category{Wire, Go, Name, Authz, Canon, Prompt}, r.Category) {
			t.Errorf("%s: level %q, category %q", r.ID, r.Level, r.Category)
		}
	}
}
