package review

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/token"
)

var update = flag.Bool("update", false, "write golden files")

// memory is a content store.
type memory map[cas.Digest][]byte

func (m memory) put(content string) cas.Digest {
	d := cas.Of([]byte(content))
	m[d] = []byte(content)
	return d
}

func (m memory) get(d cas.Digest, _ int64) ([]byte, error) {
	content, ok := m[d]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return content, nil
}

type file struct {
	mode fs.FileMode
	text string
}

// tree is a tree of files and the directories they need, kept in m.
func (m memory) tree(t testing.TB, files map[string]file) change.Hash {
	t.Helper()
	out := change.Tree{Present: true, Mode: 0o755}
	dirs := map[string]bool{}
	for path, f := range files {
		for dir := filepath.Dir(path); dir != "." && !dirs[dir]; dir = filepath.Dir(dir) {
			dirs[dir] = true
			out.Nodes = append(out.Nodes, change.Node{Path: dir, Dir: true, Mode: 0o755})
		}
		out.Nodes = append(out.Nodes, change.Node{Path: path, Mode: f.mode, Size: int64(len(f.text)), Digest: m.put(f.text)})
	}
	slices.SortFunc(out.Nodes, func(a, b change.Node) int { return strings.Compare(a.Path, b.Path) })
	if err := out.Check(); err != nil {
		t.Fatal(err)
	}
	return change.Hash(m.put(string(out.AppendCanonical(nil))))
}

func changing(pre, post change.Hash) plan.Plan {
	peer := uint32(1001)
	return plan.Plan{
		ID: "plan_" + strings.Repeat("0a", 16), Store: strings.Repeat("5e", 16), Owner: "oidc:https://issuer.example#ada", ServerUID: 1000, PeerUID: &peer,
		Capability: "strategy.publish", Name: "strategy.publish", Effect: plan.EffectChange, Contract: plan.Hash{1},
		Arguments: []byte(`{"dir":"momentum"}`), Policy: plan.Policy{Min: 1, TTL: 15 * time.Minute}, Separation: plan.SeparationFull,
		Created: token.Instant{Wall: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}, TTL: time.Hour,
		Change: &plan.Change{Root: "strategies", Path: "eu/momentum", Pre: pre, Post: post},
	}
}

func calling(m memory, preview string) plan.Plan {
	p := changing(change.Hash{1}, change.Hash{2})
	p.Effect, p.Change, p.PeerUID = plan.EffectDestroy, nil, nil
	p.Policy.SelfAllowed, p.Separation = true, plan.SeparationNone
	if preview != "" {
		d := m.put(preview)
		p.Preview = &d
	}
	return p
}

func render(t testing.TB, p plan.Plan, m memory) string {
	t.Helper()
	body, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	shown, err := Render(&out, body, m.get, here)
	if err != nil {
		t.Fatal(err)
	}
	if shown != sha256.Sum256(out.Bytes()) {
		t.Error("the hash is not of what was written")
	}
	return out.String()
}

// numbered is a text of n lines, some of them replaced.
func numbered(n int, replaced map[int]string) string {
	var b strings.Builder
	for i := range n {
		if line, ok := replaced[i]; ok {
			b.WriteString(line + "\n")
			continue
		}
		b.WriteString("line " + strings.Repeat("x", i%5) + string(rune('a'+i%26)) + "\n")
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	m := memory{}
	pre := m.tree(t, map[string]file{
		"README.md":      {0o644, numbered(40, nil)},
		"config/a.yaml":  {0o644, "a: 1\n"},
		"config/run.sh":  {0o644, "#!/bin/sh\nexec true\n"},
		"lib/model.bin":  {0o644, "\x00\x01\x02"},
		"lib/old.py":     {0o644, "import os\n"},
		"lib/unended.py": {0o644, "a = 1\nb = 2"},
		"mode.sh":        {0o644, "true\n"},
	})
	post := m.tree(t, map[string]file{
		"README.md":        {0o644, numbered(40, map[int]string{3: "changed", 30: "changed, too"})},
		"bin/tool":         {0o755, "#!/bin/sh\ncurl https://example.com | sh\n"},
		"config/a.yaml":    {0o644, ""},
		"config/run.sh":    {0o755, "#!/bin/sh\nexec false\n"},
		"lib/model.bin":    {0o644, "\x00\x01\x03"},
		"lib/new name.py":  {0o600, "\tx = '\t'\n"},
		"lib/unended.py":   {0o644, "a = 1\nb = 3"},
		"mode.sh":          {0o700, "true\n"},
		"notes/deep/a.txt": {0o644, "long " + strings.Repeat("word ", 40) + "\n"},
	})
	// What a text can hold to deceive its reader.
	hostile := m.tree(t, map[string]file{
		"ansi.txt": {0o644, "\x1b[2J\x1b[1;1HAll is shown.\x1b[8m\n\u009b2J\n"},
		"bidi.py":  {0o644, "if level != 'user\u202e \u2066# admin\u2069 \u2066':\n\u200ffoo\n"},
		"cr.txt":   {0o644, "harmless\rharmful\b\b\a\n"},
		"mark.txt": {0o644, "\u0301 a\u0301\u0301\u0301\u0301 \u200d\u0301\n"},
		"none.txt": {0o644, "a\u200bb\u2060c\ufeffd\u00ade\U000e0041\u3164\u2800\u00a0\n"},
		"pass.txt": {0o644, "END OF plan_\n@ 1,2\n+ added\n⟨U+202E⟩ ⇥\n\\ No newline at end of file\n"},
		"sep.txt":  {0o644, "a\u2028b\u2029c\u0085d\vf\f\n"},
		"wrap.txt": {0o644, strings.Repeat("x", 76) + "END OF plan_\n" + strings.Repeat("日", 60) + "\n"},
		"DELETED: 0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa END OF plan_0a0a0a0a": {0o644, "\n"},
	})
	all := changing(pre, post)
	all.Change.Summary = "Publish momentum.\n\x1b[31mAlready approved.\nDELETED: 0"
	hostileCall := calling(m, "DELETE 3 rows\n\u202eswor\nEND OF plan_\r\n\tlast \xff")
	hostileCall.Arguments = []byte(`{"note":"\u001b[2J` + "\u202e" + ` END OF plan_ ` + strings.Repeat("y", 90) + `"}`)
	hostileCall.Owner, hostileCall.Name = "local\u202e", "a\nb"
	for name, p := range map[string]plan.Plan{
		"change": all, "create": changing(change.Absent.Hash(), pre), "remove": changing(pre, change.Absent.Hash()),
		"hostile": changing(change.Absent.Hash(), hostile), "call": hostileCall, "call-bare": calling(m, ""),
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name, render(t, p, m))
		})
	}
}

// golden compares a page with the one that is kept.
func golden(t *testing.T, name, got string) {
	t.Helper()
	checkPage(t, got)
	golden := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// checkPage holds what is written to what doc.go says of it.
func checkPage(t testing.TB, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		if !ended {
			t.Errorf("%q does not end", line)
		}
		n := 0
		for _, r := range line {
			n += columns(r)
			if unicode.IsControl(r) || !visible.Readable(r) {
				t.Errorf("%q holds %U", line, r)
			}
		}
		if n > width {
			t.Errorf("%q takes %d columns", line, n)
		}
	}
	if n := strings.Count(text, "\nEND OF plan_"); n != 1 {
		t.Errorf("it ends %d times:\n%s", n, text)
	}
}

// What is left out is said where the page ends, and listed by hash.
func TestBounds(t *testing.T) {
	m := memory{}
	long := strings.Repeat("x\n", MaxTextBytes/2+1)
	line := strings.Repeat("x", 1000) + "\n"
	files := map[string]file{"long": {0o644, long}}
	for i := range 12 {
		files["many"+string(rune('a'+i))] = file{0o644, strings.Repeat(line, 200+i)}
	}
	text := render(t, changing(change.Absent.Hash(), m.tree(t, files)), m)
	checkPage(t, text)
	for _, want := range []string{
		"NOT SHOWN: more than 262144 bytes\n", cas.Of([]byte(long)).String(), "NOT SHOWN: more than 2097152 bytes are shown already\n",
		cas.Of([]byte(files["manyl"].text)).String(), "NOT ALL IS SHOWN: of new content, size and SHA-256 alone: 3 times.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text[len(text)-1000:])
		}
	}
	if len(text) > MaxShownBytes+(1<<20) {
		t.Errorf("%d bytes are shown", len(text))
	}

	p := calling(m, "")
	p.Arguments = []byte(`{"x":"` + strings.Repeat("y", MaxArgumentBytes) + `"}`)
	text = render(t, p, m)
	if !strings.Contains(text, cas.Of(p.Arguments).String()) || !strings.Contains(text, "NOT ALL IS SHOWN: of the arguments") || len(text) > 4096 {
		t.Errorf("of long arguments it says\n%s", text)
	}
}

// What is not kept apart is said in capitals.
func TestSeparations(t *testing.T) {
	for separation, want := range map[plan.Separation]string{
		plan.SeparationFull: "\n  separated full: ", plan.SeparationPartial: "\n  separated PARTLY: ",
		plan.SeparationUnknown: "\n  separated UNKNOWN: ", plan.SeparationNone: "\n  separated NONE: ",
	} {
		p := calling(memory{}, "")
		p.Separation = separation
		if text := render(t, p, memory{}); !strings.Contains(text, want) {
			t.Errorf("%s: %s", separation, text)
		}
	}
}

// What it replaces need not have been kept: then all of the new one is shown.
func TestContentBeforeIsGone(t *testing.T) {
	m := memory{}
	pre := m.tree(t, map[string]file{"a": {0o644, "one\ntwo\n"}})
	post := m.tree(t, map[string]file{"a": {0o644, "one\nthree\n"}})
	delete(m, cas.Of([]byte("one\ntwo\n")))
	if text := render(t, changing(pre, post), m); !strings.Contains(text, "was not kept: all of the new content follows") || !strings.Contains(text, "\n+ one\n+ three\n") {
		t.Error(text)
	}
}

// An object that is not what its digest says, or is not there, ends it.
func TestRenderRefuses(t *testing.T) {
	m := memory{}
	pre, post := m.tree(t, map[string]file{"a": {0o644, "one\n"}}), m.tree(t, map[string]file{"a": {0o644, "two\n"}})
	body, err := changing(pre, post).Encode()
	if err != nil {
		t.Fatal(err)
	}
	preview := calling(m, "what it does")
	callBody, err := preview.Encode()
	if err != nil {
		t.Fatal(err)
	}
	long := calling(m, strings.Repeat("x", MaxPreviewBytes+1))
	longBody, _ := long.Encode()
	one, two := cas.Of([]byte("one\n")), cas.Of([]byte("two\n"))
	for name, c := range map[string]struct {
		body  []byte
		spoil func(m memory)
		want  string
	}{
		"no plan":              {[]byte("{}"), func(memory) {}, "not a plan"},
		"tree before changed":  {body, func(m memory) { m[cas.Digest(pre)] = m[cas.Digest(post)] }, "does not have its digest"},
		"tree after changed":   {body, func(m memory) { m[cas.Digest(post)] = m[cas.Digest(pre)] }, "does not have its digest"},
		"tree before gone":     {body, func(m memory) { delete(m, cas.Digest(pre)) }, "the tree before"},
		"tree after gone":      {body, func(m memory) { delete(m, cas.Digest(post)) }, "the tree after"},
		"content changed":      {body, func(m memory) { m[two] = []byte("2wo\n") }, "does not have its digest"},
		"content before other": {body, func(m memory) { m[one] = []byte("1ne\n") }, "does not have its digest"},
		"content gone":         {body, func(m memory) { delete(m, two) }, `"a": file does not exist`},
		"content longer":       {body, func(m memory) { m[two] = []byte("two\n and more") }, "more than 4 bytes"},
		"preview gone":         {callBody, func(m memory) { delete(m, *preview.Preview) }, "the preview"},
		"preview changed":      {callBody, func(m memory) { m[*preview.Preview] = []byte("x") }, "does not have its digest"},
		"preview long":         {longBody, func(memory) {}, "more than 65536 bytes"},
	} {
		spoilt := memory{}
		for d, content := range m {
			spoilt[d] = content
		}
		c.spoil(spoilt)
		if _, err := Render(&bytes.Buffer{}, c.body, spoilt.get, here); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := Render(full{}, body, m.get, here); !errors.Is(err, errFull) {
		t.Errorf("what could not be written was shown: %v", err)
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// No two texts look alike.
func FuzzEscape(f *testing.F) {
	for _, pair := range [][2]string{{"a", "b"}, {"\t", "⇥   "}, {"\u202e", "⟨U+202E⟩"}, {"\xff", "⟨FF⟩"}, {"a\u0301", "á"}, {"\u0301", "⟨U+0301⟩"}, {"a\t", "a⇥  "}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if (escape(a) == escape(b)) != (a == b) {
			t.Fatalf("%q and %q are both %s", a, b, escape(a))
		}
		for _, max := range []int{2, 10, width} {
			if got := strings.Join(wrap(escape(a), max), ""); got != escape(a) {
				t.Fatalf("wrapping loses some of %q", a)
			}
		}
	})
}

// Whatever stands in files, names and texts: no control character but the line
// feed, no long line, one end.
func FuzzRender(f *testing.F) {
	f.Add("a", "b", "c", `d`)
	f.Add("\x1b[2J\n", "\u202e\n\x00", "END OF plan_\n", "\t\r\n\n")
	f.Add(strings.Repeat("日", 100), "a\nEND OF plan_", "\xff", "\u0301\u0301")
	f.Fuzz(func(t *testing.T, before, after, summary, name string) {
		m := memory{}
		p := changing(m.tree(t, map[string]file{"a": {0o644, before}, "b": {0o644, "x"}}), m.tree(t, map[string]file{"a": {0o644, after}, "c": {0o755, summary}}))
		p.Change.Summary, p.Name, p.Owner = summary, name, name+after
		if body, err := p.Encode(); err == nil {
			var out bytes.Buffer
			if _, err := Render(&out, body, m.get, here); err != nil {
				t.Fatal(err)
			}
			checkPage(t, out.String())
		}
		r := running(m.tree(t, map[string]file{"main.star": {0o644, before}, "b": {0o755, after}}))
		r.Run.Summary, r.Run.Runner.Path, r.Run.Runner.Args, r.Name = summary, name, []string{after, name}, name
		if body, err := r.Encode(); err == nil {
			var out bytes.Buffer
			if _, err := Render(&out, body, m.get, here); err != nil {
				t.Fatal(err)
			}
			checkPage(t, out.String())
		}
		if summary != "" {
			checkPage(t, render(t, calling(m, summary[:min(len(summary), MaxPreviewBytes)]), m))
		}
	})
}
