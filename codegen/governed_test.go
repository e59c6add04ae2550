package codegen_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/codegen/testdata/governed/generated/catalog"
	"github.com/capgen/capgen/codegen/testdata/governed/generated/fake"
	"github.com/capgen/capgen/codegen/testdata/governed/generated/site"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/examples"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/schema"
)

func governedManifest(t *testing.T, more string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/governed/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ = bytes.Cut(text, []byte("programs:\n"))
	return strings.Replace(string(text), "github.com/capgen/capgen/codegen/testdata/governed/generated", "example.com/g/generated", 1) + more
}

// Every build compiles, and one that holds nothing that people approve has
// nothing of it.
func TestGovernedBuilds(t *testing.T) {
	files := generate(t, fromText(t, governedManifest(t, `
  - name: log.purge
    summary: Purge the log.
    effect: destroy
    scopes: none
    approval: {required: true}
    input: {type: object, properties: {}}
    output: {type: boolean}
deployments:
  default: {}
  quiet: {include: [site.pages]}
  notes: {include: [site.note, site.pages]}
  log: {include: [log.purge, site.pages]}
`)))
	for tag, governed := range map[string]bool{"capgen_default": true, "capgen_notes": true, "capgen_log": true, "capgen_quiet": false, "": false} {
		if err := compile(t, files, tag); err != nil {
			t.Errorf("%q: %v", tag, err)
		}
		all := ""
		for _, content := range built(t, files, tag) {
			all += string(content)
		}
		if strings.Contains(all, "Govern *govern.Service") != governed || strings.Contains(all, "runtime/govern") != governed {
			t.Errorf("%q: holds the service: %t, want %t", tag, !governed, governed)
		}
		if holds := strings.Contains(all, "site.note.prepare"); holds != (tag == "capgen_default" || tag == "capgen_notes") {
			t.Errorf("%q: holds site.note: %t", tag, holds)
		}
	}
}

// What reaches the handler of a write or destroy has been approved: nothing
// outside of package govern makes one, as far as the compiler can say. (The
// zero value, which has no plan, is no way to a handler: only ApplyCall calls.)
func TestApprovedCannotBeMade(t *testing.T) {
	for i, of := 0, reflect.TypeFor[govern.Approved[int]](); i < of.NumField(); i++ {
		if of.Field(i).IsExported() {
			t.Errorf("anybody sets %s", of.Field(i).Name)
		}
	}
	files := generate(t, fromText(t, governedManifest(t, "")))
	for _, test := range []struct{ code, want string }{
		{`func f(h site.Handlers, in govern.Approved[site.NoteInput]) { h.Note(nil, in) }`, ""},
		{`func f(h site.Handlers, in site.NoteInput) { h.Note(nil, in) }`, "cannot use in"},
		{`var _ = govern.Approved[site.NoteInput]{in: site.NoteInput{}}`, "in"},
		{`var _ = govern.Approved[site.NoteInput]{site.NoteInput{}, "p", "k", nil}`, "implicit assignment to unexported field"},
		{`func f(a *govern.Approved[site.NoteInput]) { a.in = site.NoteInput{} }`, "a.in undefined"},
		{`type mine struct { in site.NoteInput; plan, key string; approvers []string }
		  var _ = govern.Approved[site.NoteInput](mine{})`, "cannot convert"},
		{`func f(a govern.Approved[site.NoteInput]) govern.Approved[site.RemoveInput] { return govern.Approved[site.RemoveInput](a) }`, "cannot convert"},
		{`var _ = govern.Approve`, "undefined: govern.Approve"},
	} {
		host := maps.Clone(files)
		host["host/host.go"] = []byte("package host\nimport (\"example.com/g/generated/site\"; \"github.com/capgen/capgen/runtime/govern\")\nvar _ site.Handlers\nvar _ govern.Terms\n" + test.code + "\n")
		err := check(t, "example.com/g/generated", host)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s\n\t%v\n\twant %q", test.code, err, test.want)
		}
	}
}

// The fake plans and lands without anybody's approval, on the way of a program.
func TestGovernedFake(t *testing.T) {
	ran := 0
	register := func(b *runtime.Builder) { catalog.Register(b, fake.Handlers()) }
	for name, err := range examples.Run(t.Context(), register, fake.Examples(), fake.Programs()) {
		ran++
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ran != 7 {
		t.Errorf("%d examples and programs ran", ran)
	}
}

// siteHandlers are for servers whose handlers nobody calls.
type siteHandlers struct{}

func (siteHandlers) Publish(context.Context, site.PublishInput) (govern.Change, error) {
	return govern.Change{}, errors.New("called")
}

func (siteHandlers) Note(context.Context, govern.Approved[site.NoteInput]) (site.NoteOutput, error) {
	return nil, errors.New("called")
}

func (siteHandlers) Remove(context.Context, govern.Approved[site.RemoveInput]) (site.RemoveOutput, error) {
	return site.RemoveOutput{}, errors.New("called")
}

func (siteHandlers) PreviewRemove(context.Context, site.RemoveInput) (govern.Preview, error) {
	return govern.Preview{}, errors.New("called")
}

func (siteHandlers) Pages(context.Context, site.PagesInput) (site.PagesOutput, error) {
	return nil, nil
}

// No way to decide reaches a program or a client: not by the names that
// approval makes, not by one that a host registers beside them.
func TestNoApprovalVerbReachesPrograms(t *testing.T) {
	b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll()})
	catalog.Register(b, catalog.Handlers{Site: siteHandlers{}, Govern: new(govern.Service)})
	server, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, program := range []string{"change.approve(plan='p')", "change.reject(plan='p')", "change.sign(plan='p')", "site.publish.approve(plan='p')", "site.publish(dir='a', pages=[], key='k')", "site.remove.reject(plan='p')", "govern.approve(plan='p')"} {
		_, err := server.Execute(t.Context(), authz.Local(), "def main():\n    return "+program+"\n")
		var e *runtime.Error
		if !errors.As(err, &e) || !errors.Is(err, runtime.ErrCapabilityNotFound) && !errors.Is(err, runtime.ErrProgramFailed) {
			t.Errorf("%s: %v", program, err)
		}
	}
	m := fromText(t, governedManifest(t, ""))
	verbs := []string{"approve", "reject", "sign", "pending", "recover", "clean", "keys", "audit", "doctor", "rotate"}
	for _, c := range m.Capabilities {
		if slices.Contains(verbs, c.Leaf()) {
			t.Errorf("%s is called by programs", c.Name)
		}
	}
	for _, name := range append(binding.FamilyNames(), "change.approve", "change.reject", "change.show.more", "run.start") {
		b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AllowAll()})
		b.Register(runtime.NewCapability(runtime.Info{ID: name, Name: name}, func(context.Context, site.PagesInput) (site.PagesOutput, error) { return nil, nil }))
		_, err := b.Build(t.Context())
		if refused := err != nil && strings.Contains(err.Error(), "is reserved"); refused == slices.Contains(binding.FamilyNames(), name) {
			t.Errorf("a host's %s: %v", name, err)
		}
	}
}

func TestGovernedNeedsItsService(t *testing.T) {
	b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll()})
	catalog.Register(b, catalog.Handlers{Site: siteHandlers{}})
	if _, err := b.Build(t.Context()); err == nil || !strings.Contains(err.Error(), "site: no service given that people's approvals go through") {
		t.Errorf("%v", err)
	}
}

// Names that Go cannot tell apart are told, with both places.
func TestGovernedCollisions(t *testing.T) {
	const plain = "    summary: Do it.\n    effect: write\n    scopes: none\n    input: {type: object, properties: {}}\n    output: {type: string}\n"
	for _, test := range []struct{ more, want string }{
		{"  - name: site.publish_prepare\n" + plain, "would both be publishPrepareCapability"},
		{"  - name: site.preview_remove\n" + plain, "would both be previewRemoveCapability"},
		{"  - name: site.remove_apply\n" + plain, "would both be removeApplyCapability"},
		{"  - name: govern.look\n" + plain, "would both be Govern in the catalog's Handlers"},
		{"  - name: site.other\n    summary: Do it.\n    effect: write\n    scopes: none\n    approval: {required: true}\n    input: {type: object, properties: {_key: {type: string}}}\n    output: {type: string}\n", "would both be Key in type OtherPrepareInput"},
	} {
		files, diags := codegen.Generate(fromText(t, governedManifest(t, test.more)))
		if files != nil || len(diags) == 0 || diags[0].Line == 0 || !strings.Contains(diags[0].Message, test.want) {
			t.Errorf("%s\n\t%v\n\twant %s", test.more, diags, test.want)
		}
	}
}

// A model that no manifest makes is refused.
func TestHandMadeApproval(t *testing.T) {
	for name, change := range map[string]func(m *schema.Manifest){
		"declared": func(m *schema.Manifest) {
			m.Capabilities = append(slices.Clone(m.Capabilities), m.Governed[0])
		},
		"without what it is of": func(m *schema.Manifest) { m.Governed = m.Governed[1:] },
		"without parts": func(m *schema.Manifest) {
			m.Capabilities = slices.DeleteFunc(slices.Clone(m.Capabilities), func(c *schema.Capability) bool { return c.Name == "site.note.apply" })
		},
		"a step more": func(m *schema.Manifest) {
			c := *m.Capabilities[len(m.Capabilities)-1]
			c.Name, c.Step = c.Of.Name+".approve", "approve"
			m.Capabilities = append(slices.Clone(m.Capabilities), &c)
		},
		"a family member more": func(m *schema.Manifest) {
			c := *m.Capabilities[0]
			c.Name, c.Step = "change.approve", "approve"
			m.Capabilities = append(slices.Clone(m.Capabilities), &c)
		},
	} {
		m := fromText(t, governedManifest(t, ""))
		change(m)
		m.Deployments = nil
		files, diags := codegen.Generate(m)
		if files != nil || !slices.ContainsFunc(diags, func(d schema.Diagnostic) bool { return d.Rule == "approval" }) {
			t.Errorf("%s: %v", name, diags)
		}
	}
}
