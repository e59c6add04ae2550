package schema

import (
	"slices"
	"strings"
)

// DefaultDeployment is the deployment of a manifest that declares none, and
// Untagged the name of what a build holds that is given no tag of a
// deployment: no deployment has that name.
const (
	DefaultDeployment = "default"
	Untagged          = "untagged"
)

// The words of a deployment's `require`.
const (
	// RequireAuthorizer: a server whose authorizer allows everything is not
	// built.
	RequireAuthorizer = "authorizer"
	// RequireApproval: the deployment holds nothing with effect change or run
	// that lands without an approval, and nothing that lands by its author's own.
	RequireApproval = "approval"
	// RequireSandbox: a server is not built where a layer of the sandbox is
	// missing.
	RequireSandbox = "sandbox"
	// RequireVerifier: nothing is served over HTTP without a verifier of
	// tokens.
	RequireVerifier = "verifier"
)

// Deployment is an entry of `deployments`: what a build of it holds, and what
// that build needs to run.
type Deployment struct {
	Name string
	// Capabilities are sorted by name; there is at least one.
	Capabilities []*Capability
	// Require are words of the list above, sorted.
	Require []string
	// Credentials are sorted by name.
	Credentials []Credential
	Pos         Position
}

// Credential is a reference to a secret of the host, which handlers get and
// nobody else. The secret itself is never in a manifest.
type Credential struct {
	Name string
	// From is env or file; Source the variable, or the absolute path.
	From, Source string
	// Host is the only host to which the secret may be sent, with its port if
	// that is not the scheme's own.
	Host string
	Pos  Position
}

// Tag is the build tag of a deployment.
func (d *Deployment) Tag() string { return "capgen_" + d.Name }

// Holds tells whether a build of the deployment has the capability; of one
// with an approval, its parts.
func (d *Deployment) Holds(c *Capability) bool {
	return d.has(c.Name) || c.IsGoverned() && d.has(c.Called())
}

func (d *Deployment) has(name string) bool {
	_, ok := slices.BinarySearchFunc(d.Capabilities, name, func(have *Capability, name string) int {
		return strings.Compare(have.Name, name)
	})
	return ok
}

// Deployment is the deployment with that name, or nil.
func (m *Manifest) Deployment(name string) *Deployment {
	for _, d := range m.Deployments {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// Reach names the deployments that hold c, sorted.
func (m *Manifest) Reach(c *Capability) []string {
	var names []string
	for _, d := range m.Deployments {
		if d.Holds(c) {
			names = append(names, d.Name)
		}
	}
	return names
}

// Tagged tells whether builds name their deployment by a tag: whether there
// are others than default.
func (m *Manifest) Tagged() bool {
	return len(m.Deployments) != 1 || m.Deployments[0].Name != DefaultDeployment
}

// Common is what a build without a tag holds, so that leaving a tag out never
// widens anything: the capabilities that every deployment has, what any of
// them requires, and the credentials on which all agree. It is called
// Untagged, or is default itself where there is no other deployment. With
// `default: none` such a build does not compile; what all have in common is
// the same.
func (m *Manifest) Common() *Deployment {
	if !m.Tagged() {
		return m.Deployments[0]
	}
	first := m.Deployments[0]
	common := &Deployment{Name: Untagged, Pos: first.Pos}
	all := func(has func(*Deployment) bool) bool {
		return !slices.ContainsFunc(m.Deployments, func(d *Deployment) bool { return !has(d) })
	}
	for _, c := range first.Capabilities {
		if all(func(d *Deployment) bool { return d.Holds(c) }) {
			common.Capabilities = append(common.Capabilities, c)
		}
	}
	for _, c := range first.Credentials {
		if all(func(d *Deployment) bool { return slices.ContainsFunc(d.Credentials, c.same) }) {
			common.Credentials = append(common.Credentials, c)
		}
	}
	for _, d := range m.Deployments {
		common.Require = append(common.Require, d.Require...)
	}
	slices.Sort(common.Require)
	common.Require = slices.Compact(common.Require)
	return common
}

func (c Credential) same(other Credential) bool {
	c.Pos, other.Pos = Position{}, Position{}
	return c == other
}
