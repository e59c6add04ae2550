package schema

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/internal/hints"
	"github.com/capgen/capgen/runtime/binding"
)

const governedManifest = `capgen: 1
go: {package: example.com/m/generated}
server: {name: m, version: 1.0.0}
types:
  Site: {type: object, required: [path], properties: {path: {type: string}, draft: {type: boolean, default: false}}}
capabilities:
  - name: site.publish
    summary: Publish a site.
    description: Replaces what is there.
    search: [put online]
    effect: change
    was: [site.push]
    tags: [slow]
    timeout: 5s
    scopes: [site:write]
    approval: {required: true, min: 2, ttl: 1h}
    input: {$ref: "#/types/Site"}
  - name: site.remove
    id: remove
    summary: Remove a site.
    effect: destroy
    world: open
    scopes: [site:write]
    approval: {required: true, self: allow, preview: true}
    input: {type: object, required: [path], properties: {path: {type: string}}}
    output: {type: object, required: [gone], properties: {gone: {type: integer}}}
    errors: {absent: There is none.}
  - name: site.look
    summary: Look at a site.
    effect: read
    deprecated: {since: "2026-11-29", use: site.publish}
    scopes: none
    input: {type: object, properties: {}}
    output: {type: boolean}
{deployments}
`

func loadGoverned(t *testing.T, deployments string) (*Manifest, []Diagnostic) {
	t.Helper()
	text := strings.Replace(governedManifest, "{deployments}", deployments, 1)
	if deployments != "" {
		text = strings.Replace(text, ", use: site.publish", "", 1)
	}
	return Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
}

func TestGovernedCapabilitiesBecomeTheirParts(t *testing.T) {
	m, diags := loadGoverned(t, "")
	if m == nil {
		t.Fatal(diags)
	}
	type part struct {
		Name, ID, Effect, Was string
		Parameters, Results   string
		Hints                 hints.Hints
		Scopes, Tags          []string
	}
	members := func(of *Type) string {
		var names []string
		for _, p := range Resolve(of).Properties {
			names = append(names, p.Name)
		}
		return strings.Join(names, " ")
	}
	var got []part
	for _, c := range m.Capabilities {
		results := ""
		if Resolve(c.Output).Kind == Object {
			results = members(c.Output)
		}
		got = append(got, part{c.Name, c.ID, c.Effect, strings.Join(c.Was, " "), members(c.Input), results, hints.Of(c.Effect, c.Idempotency, c.World), c.Scopes, c.Tags})
	}
	prepared := "plan hash token expires actions approval separation"
	write, slow := []string{"site:write"}, []string{"slow"}
	want := []part{
		{"change.cancel", "change.cancel", "destroy", "", "plan reason", "plan status", hints.Hints{Destructive: true, Idempotent: true}, nil, nil},
		{"change.list", "change.list", "read", "", "status capability limit after", "plans next", hints.Hints{ReadOnly: true, Idempotent: true}, nil, nil},
		{"change.show", "change.show", "read", "", "plan", "plan hash capability effect status reason state created expires arguments root path summary actions preview approvals min approval separation", hints.Hints{ReadOnly: true, Idempotent: true}, nil, nil},
		{"change.status", "change.status", "read", "", "plan", "plan status reason state expires approvals min tree output", hints.Hints{ReadOnly: true, Idempotent: true}, nil, nil},
		{"site.look", "site.look", "read", "", "", "", hints.Hints{ReadOnly: true, Idempotent: true}, nil, nil},
		{"site.publish.apply", "site.push.apply", "destroy", "site.push.apply", "plan token key approval", "plan state tree", hints.Hints{Destructive: true, Idempotent: true}, write, slow},
		{"site.publish.prepare", "site.push.prepare", "write", "site.push.prepare", "path draft key", prepared, hints.Hints{Idempotent: true}, write, slow},
		{"site.remove.apply", "remove.apply", "destroy", "", "plan token key approval", "plan state output", hints.Hints{Destructive: true, Idempotent: true, OpenWorld: true}, write, nil},
		{"site.remove.prepare", "remove.prepare", "write", "", "path key", prepared, hints.Hints{Idempotent: true}, write, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	var declared []string
	for _, c := range m.Declared() {
		declared = append(declared, c.Name)
	}
	if diff := cmp.Diff([]string{"site.look", "site.publish", "site.remove"}, declared); diff != "" {
		t.Errorf("declared (-want +got):\n%s", diff)
	}
	approvals := []string{m.Governed[0].Approval.Text(), m.Governed[1].Approval.Text()}
	if diff := cmp.Diff([]string{"min=2 self=forbid ttl=1h", "min=1 self=allow ttl=15m preview"}, approvals); diff != "" {
		t.Errorf("approvals (-want +got):\n%s", diff)
	}
	if use := m.Capabilities[4].Deprecated.Use; use != "site.publish.prepare" {
		t.Errorf("what replaces site.look is %s", use)
	}
	prepare := m.Capabilities[6]
	if prepare.Of != m.Governed[0] || prepare.Timeout == 0 || prepare.Description != "Replaces what is there.\n\nChanges nothing yet: land the plan by site.publish.apply." {
		t.Errorf("prepare: %+v", prepare)
	}
	var errors []string
	for _, c := range m.Capabilities {
		if len(c.Errors) > 0 {
			errors = append(errors, c.Name)
		}
	}
	if diff := cmp.Diff([]string{"site.remove.apply", "site.remove.prepare"}, errors); diff != "" {
		t.Errorf("parts with errors (-want +got):\n%s", diff)
	}
	// The key is a parameter of prepare only, and what is approved has a type
	// of its own.
	if c := m.Governed[0]; members(c.Input) != "path draft" || c.Input.Kind != Object {
		t.Errorf("the input of %s: %+v", c.Name, c.Input)
	}
}

func TestManifestsWithoutApprovalStayAsTheyAre(t *testing.T) {
	text, _, _ := strings.Cut(governedManifest, "  - name: site.publish")
	_, look, _ := strings.Cut(governedManifest, "  - name: site.look")
	text += "  - name: site.look" + strings.NewReplacer("{deployments}", "", ", use: site.publish", "").Replace(look)
	m, diags := Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
	if m == nil || len(m.Capabilities) != 1 || m.Governed != nil || len(m.Deployments[0].Capabilities) != 1 {
		t.Fatalf("%+v %v", m, diags)
	}
}

func TestDeploymentsHoldBothParts(t *testing.T) {
	for _, test := range []struct {
		deployments string
		want        map[string]string
	}{
		{"", map[string]string{"default": "change.cancel change.list change.show change.status site.look site.publish.apply site.publish.prepare site.remove.apply site.remove.prepare"}},
		{
			"deployments: {default: {}, prod: {exclude: [{effect: destroy}, site.look]}, quiet: {include: [site.look]}}",
			map[string]string{
				"prod":      "change.cancel change.list change.show change.status site.publish.apply site.publish.prepare",
				"quiet":     "site.look",
				"untagged":  "",
				"publishes": "default prod",
			},
		},
		{
			"deployments: {default: {exclude: [{effect: change}]}, all: {include: [remove, {tag: slow}, site.look]}}",
			map[string]string{
				"default":   "change.cancel change.list change.show change.status site.look site.remove.apply site.remove.prepare",
				"untagged":  "change.cancel change.list change.show change.status site.look site.remove.apply site.remove.prepare",
				"publishes": "all",
			},
		},
	} {
		m, diags := loadGoverned(t, test.deployments)
		if m == nil {
			t.Errorf("%s: %v", test.deployments, diags)
			continue
		}
		for name, want := range test.want {
			d := m.Deployment(name)
			var got []string
			switch name {
			case "publishes":
				got = m.Reach(m.Governed[slices.IndexFunc(m.Governed, func(c *Capability) bool { return c.Name == "site.publish" })])
			case Untagged:
				d = m.Common()
				fallthrough
			default:
				for _, c := range d.Capabilities {
					got = append(got, c.Name)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %s is %v, want %s", test.deployments, name, got, want)
			}
		}
	}
}

// What people decide on is theirs: no name that approval brings is a way to
// decide.
func TestNoPartApproves(t *testing.T) {
	m, diags := loadGoverned(t, "")
	if m == nil {
		t.Fatal(diags)
	}
	allowed := append(Steps(), "show", "list", "status", "cancel")
	for _, c := range m.Capabilities {
		if c.Step != "" && (c.Leaf() != c.Step || !slices.Contains(allowed, c.Step)) {
			t.Errorf("%s is a part that was not meant to be", c.Name)
		}
	}
	want := append(binding.FamilyNames(), "change.apply", "change.prepare", "run.start")
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(Family()))); diff != "" {
		t.Errorf("the family (-want +got):\n%s", diff)
	}
}

// What is filtered by an id takes the longest.
func TestFiltersTakeIDs(t *testing.T) {
	for _, name := range []string{"change.list", "run.list"} {
		properties := Family()[name].Input.Properties
		i := slices.IndexFunc(properties, func(p *Property) bool { return p.Name == "capability" })
		if i < 0 || properties[i].Type.MaxLength != maxID {
			t.Errorf("%s: %+v", name, properties)
		}
	}
}
