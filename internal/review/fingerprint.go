package review

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/schema"
	"github.com/capgen/capgen/schema/breaking"
)

// prints are the fingerprints of one manifest: sha256: and the SHA-256 over
// canonical JSON (RFC 8785).
type prints struct {
	// capabilities by name: the digest that lock files and capgen show print,
	// over everything that a capability promises and says.
	capabilities map[string]string
	types        map[string]string
	// manifest is of what stands beside them: server, package, deployments and
	// programs. contract is of everything.
	manifest, contract string
}

func newPrints(m *schema.Manifest) (*prints, error) {
	p := &prints{capabilities: map[string]string{}, types: map[string]string{}}
	for _, c := range m.Declared() {
		p.capabilities[c.Name] = "sha256:" + codegen.Digest(c)
	}
	for _, t := range m.Types {
		print, err := fingerprint(map[string]any{"name": t.Name, "boxed": t.Boxed, "schema": json.RawMessage(codegen.InlineSchema(&schema.Type{Kind: schema.Ref, Ref: t}))})
		if err != nil {
			return nil, err
		}
		p.types[t.Name] = print
	}
	var deployments []any
	for _, d := range m.Deployments {
		var names []string
		for _, c := range d.Capabilities {
			names = append(names, c.Name)
		}
		var credentials []string
		for _, c := range d.Credentials {
			credentials = append(credentials, breaking.CredentialText(c))
		}
		deployments = append(deployments, map[string]any{"name": d.Name, "capabilities": names, "require": d.Require, "credentials": credentials})
	}
	allowances := map[string]string{}
	for _, a := range m.Allowances {
		allowances[breaking.AllowanceName(a)] = a.Reason
	}
	var programs []any
	for _, e := range m.Programs {
		programs = append(programs, map[string]any{"title": e.Title, "source": e.Source, "result": json.RawMessage(e.Result)})
	}
	beside := map[string]any{
		"go":          m.Package,
		"server":      []string{m.Server.Name, m.Server.Title, m.Server.Version, m.Server.Instructions},
		"deployments": deployments, "default_none": m.DefaultNone, "programs": programs, "allowances": allowances,
	}
	var err error
	if p.manifest, err = fingerprint(beside); err != nil {
		return nil, err
	}
	p.contract, err = fingerprint(map[string]any{"manifest": p.manifest, "capabilities": p.capabilities, "types": p.types})
	return p, err
}

func fingerprint(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	if text, err = canon.CanonicalizeJSON(nil, text, 1_000); err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// of is the fingerprint of what a finding is about; empty where the manifest
// does not have it.
func (p *prints) of(f *breaking.Finding) string {
	if f.Capability != "" {
		return p.capabilities[f.Capability]
	}
	if rest, ok := strings.CutPrefix(f.Pointer, "/types/"); ok {
		name, _, _ := strings.Cut(rest, "/")
		return p.types[name]
	}
	return p.manifest
}
