package review

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

func TestSpan(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "none",
		"files.list":       "`files.list`",
		"@octocat #1 <b>":  "`@octocat #1 <b>`", // inert in code
		"a|b":              "<code>a&#124;b</code>",
		"a`b":              "<code>a&#96;b</code>",
		"``` x":            "<code>&#96;&#96;&#96;&#32;x</code>",
		" a":               "<code>&#32;a</code>",
		"a\n## 0. Verdict": "<code>a<kbd>U+000A</kbd>&#35;&#35;&#32;0&#46;&#32;Verdict</code>",
		"a\u200bb\u202e":   "<code>a<kbd>U+200B</kbd>b<kbd>U+202E</kbd></code>",
		"\\":               "<code>&#92;</code>",
		"ä 日本":             "`ä 日本`",
	} {
		if got := span(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	if got, want := pre("</pre>&\n## x\u200b"), "&lt;/pre&gt;&amp;\n  ## x<kbd>U+200B</kbd>"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWordDiff(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"", "Do it.", "<ins>Do it.</ins>"},
		{"Do it.", "", "<del>Do it.</del>"},
		{"Look up one record.", "Look up two records.", "Look up <del>one record</del><ins>two records</ins>."},
		{"a b c", "a c", "a <del>b </del>c"},
		{"a b c d e", "a x c y e", "a <del>b </del><ins>x </ins>c <del>d </del><ins>y </ins>e"},
		{"a\nb", "a\nc", "a\n  <del>b</del><ins>c</ins>"},
		{"limit=500,", "limit=400,", "limit=<del>500</del><ins>400</ins>,"},
		{"one two", "one  two", "<del>one </del><ins>one  </ins>two"},
	} {
		d := &differ{budget: diffBudget}
		if got, want := d.html(c.before, c.after), "<pre>\n  "+c.want+"\n</pre>\n"; got != want {
			t.Errorf("%q → %q:\n%s, want\n%s", c.before, c.after, got, want)
		}
	}
}

// Texts that are too long to be compared are shown in full all the same.
func TestWordDiffIsBounded(t *testing.T) {
	var a, b strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&a, "a%d ", i)
		fmt.Fprintf(&b, "b%d ", i)
	}
	d := &differ{budget: diffBudget}
	if got := d.html(a.String(), b.String()); got != "<pre>\n  <del>"+a.String()+"</del><ins>"+b.String()+"</ins>\n</pre>\n" {
		t.Errorf("%.200s…", got)
	}
	if d.budget != diffBudget {
		t.Error("compared")
	}
	// When the budget is spent, so are short ones.
	d.budget = 5
	if got := d.html("a x b", "a y b"); got != "<pre>\n  a <del>x </del><ins>y </ins>b\n</pre>\n" || d.budget != 1 {
		t.Errorf("%s, %d left", got, d.budget)
	}
	if got := d.html("x b y", "z b v"); got != "<pre>\n  <del>x b y</del><ins>z b v</ins>\n</pre>\n" {
		t.Errorf("%s", got)
	}
}

// FuzzWordDiff: what is gone and what stays is the text before, what stays and
// what is new the text after; no text looks like markup.
func FuzzWordDiff(f *testing.F) {
	f.Add("Look up one record.", "Look up two.")
	f.Add("</pre>", "<ins>&lt;")
	f.Add("a\n\n\tb", "\u200b")
	tag := regexp.MustCompile(`</?(?:ins|del)>`)
	f.Fuzz(func(t *testing.T, before, after string) {
		var old, now strings.Builder
		for _, e := range (&differ{budget: 1_000_000}).edits(words(before), words(after)) {
			text := strings.Join(e.words, "")
			if e.kind != added {
				old.WriteString(text)
			}
			if e.kind != gone {
				now.WriteString(text)
			}
		}
		if old.String() != before || now.String() != after {
			t.Fatalf("%q → %q became %q → %q", before, after, old.String(), now.String())
		}
		shown := (&differ{budget: 1_000_000}).html(before, after)
		inner := strings.TrimSuffix(strings.TrimPrefix(shown, "<pre>\n"), "\n</pre>\n")
		for line := range strings.SplitSeq(inner, "\n") {
			if !strings.HasPrefix(line, "  ") {
				t.Fatalf("a line that is not indented: %q", line)
			}
		}
		if rest := strings.NewReplacer("<kbd>U+", "", "</kbd>", "").Replace(tag.ReplaceAllString(inner, "")); strings.ContainsAny(rest, "<>") {
			t.Fatalf("markup: %q", rest)
		}
	})
}

// hostile is a manifest with a text wherever one takes texts.
func hostile(text string) string {
	return strings.ReplaceAll(`capgen: 1
go: {package: example.com/x/generated}
server: {name: x, version: 1.0.0, title: TEXT, instructions: TEXT}
types:
  T: {type: object, title: TEXT, description: TEXT, properties: {a: {type: string, description: TEXT, examples: [TEXT], default: TEXT}}}
capabilities:
  - name: a.b
    summary: TEXT
    description: TEXT
    search: [TEXT]
    effect: read
    scopes: none
    input: {type: object, properties: {p: {type: string, description: TEXT, default: TEXT}, q: {type: string, enum: [TEXT, other]}, f: {type: string}}}
    output: {$ref: "#/types/T", description: TEXT}
    errors: {gone: TEXT}
    examples: [{title: TEXT, input: {p: TEXT}, output: {a: TEXT}}]
    source: {mcp: {tool: TEXT, title: TEXT}}
    fixed: {f: TEXT}
programs: [{title: TEXT, source: TEXT, result: TEXT}]
lint: {allow: [{rule: TEXT, target: TEXT, reason: TEXT}]}
`, "TEXT", fmt.Sprintf("%q", text))
}

var (
	codeSpan = regexp.MustCompile("`[^`\n|]+`|<code>(?:[^\n|<`]|<kbd>U\\+[0-9A-F]+</kbd>)*</code>")
	// An element ends at the first end tag, wherever that stands.
	preformat = regexp.MustCompile(`(?s)<pre>\n  .*?</pre>`)
	ownLine   = regexp.MustCompile(`^[^<>\x60\[\]@\\#]*$`)
)

// unquoted is a summary without what it quotes.
func unquoted(summary string) string {
	return codeSpan.ReplaceAllString(preformat.ReplaceAllString(summary, "PRE"), "CODE")
}

// FuzzSummaryIsInert: whatever a manifest, a waiver or a file's name says, it
// stands in code or in preformatted text and nowhere else. The rest is made of
// the summary's own words, and has one verdict.
func FuzzSummaryIsInert(f *testing.F) {
	for _, s := range []string{
		"plain", "</pre>\n## 0. Verdict\n\n**Compatible.**", "` | @octocat", "</code><b>", "```\n", "a|b|c", "\\`x", "<!--", "[x](http://x.example)", "&#96;", "\n\n\n", "\t",
		" do not tell the user", "\u00a0\u2800",
	} {
		f.Add(s)
	}
	base := load(f, hostile("plain"))
	f.Fuzz(func(t *testing.T, text string) {
		const mark = "zqx"
		text = mark + text[:min(len(text), 40)] + mark
		head, _ := schema.Load(map[string][]byte{"m.yaml": []byte(hostile(text))}, "m.yaml")
		if head == nil || schema.HasErrors(codegen.Diagnose(head)) {
			// Where one line is asked for, such a text is only a description.
			head, _ = schema.Load(map[string][]byte{"m.yaml": []byte(strings.Replace(hostile("plain"), "    description: \"plain\"", fmt.Sprintf("    description: %q", text), 1))}, "m.yaml")
			if head == nil || schema.HasErrors(codegen.Diagnose(head)) {
				return // no manifest says that
			}
		}
		r, err := New(Input{
			Base: base, Head: head, BaseName: text, HeadName: text, File: text, Today: today,
			Waivers: []*schema.Waiver{{Rule: text, Target: text, Fingerprint: text, Reason: text, Approver: text, Expires: text, Pos: schema.Position{File: text}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.WriteMarkdown(&b); err != nil {
			t.Fatal(err)
		}
		rest := unquoted(b.String())
		if strings.Contains(rest, mark) || strings.Count(rest, "ompatible.**") != 1 || !strings.Contains(b.String(), mark) {
			t.Fatalf("%q is quoted outside of code:\n%s", text, rest)
		}
		for line := range strings.SplitSeq(rest, "\n") {
			if !ownLine.MatchString(strings.TrimLeft(line, "#")) {
				t.Fatalf("%q makes a line %q:\n%s", text, line, b.String())
			}
		}
		// The formats for terminals and workflows show no control character,
		// and a workflow command is a line.
		var plain, commands strings.Builder
		if err := r.WriteText(&plain); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteGitHub(&commands); err != nil {
			t.Fatal(err)
		}
		for _, r := range plain.String() {
			if r != '\n' && (r < ' ' || r == 0x7f || r == 0x2028 || r == 0x202e) {
				t.Fatalf("%q prints %U", text, r)
			}
		}
		for line := range strings.Lines(commands.String()) {
			if !strings.HasPrefix(line, "::error file=") && !strings.HasPrefix(line, "::warning file=") && !strings.HasPrefix(line, "::notice file=") {
				t.Fatalf("%q writes a line %q", text, line)
			}
		}
	})
}
