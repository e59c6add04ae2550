package schema

import (
	"fmt"
	"strings"
	"testing"
)

// What a build without a tag holds is never more than any deployment does, and
// needs never less.
func TestDeployments(t *testing.T) {
	const manifest = head + `capabilities:
  - {name: a.get, summary: s, effect: read, scopes: none, input: {type: object, properties: {}}, output: {type: string}}
  - {name: a.put, summary: s, effect: write, scopes: none, input: {type: object, properties: {}}, output: {type: string}}
  - {name: a.drop, id: drop-7, tags: [danger], summary: s, effect: destroy, scopes: none, input: {type: object, properties: {}}, output: {type: string}}
`
	const token = "t: {from: env, name: T, host: t.example}"
	for _, test := range []struct {
		deployments string
		reach       string // of a.drop
		tagged      bool
		common      string
	}{
		{"", "default", false, "default a.drop a.get a.put [] []"},
		{"deployments: {default: {require: [sandbox]}}", "default", false, "default a.drop a.get a.put [sandbox] []"},
		{"deployments: {default: {}, prod: {exclude: [drop-7], require: [verifier, sandbox]}}", "default", true, "untagged a.get a.put [sandbox verifier] []"},
		{"deployments: {default: {include: [{effect: read}, {effect: write}]}, prod: {exclude: [a.put]}}", "prod", true, "untagged a.get [] []"},
		{"deployments: {default: none, prod: {require: [authorizer]}}", "prod", true, "untagged a.drop a.get a.put [authorizer] []"},
		{"deployments: {default: none, b: {require: [sandbox], credentials: {" + token + "}}, c: {require: [sandbox]}}", "b c", true, "untagged a.drop a.get a.put [sandbox] []"},
		{"deployments: {default: none, b: {credentials: {" + token + "}}, c: {credentials: {u: {from: file, name: /u, host: u.example}, " + token + "}}}", "b c", true, "untagged a.drop a.get a.put [] [t]"},
		{"deployments: {default: none, b: {credentials: {" + token + "}}, c: {credentials: {t: {from: env, name: T, host: other.example}}}}", "b c", true, "untagged a.drop a.get a.put [] []"},
	} {
		m, diags := Load(map[string][]byte{"m.yaml": []byte(manifest + test.deployments + "\n")}, "m.yaml")
		if m == nil {
			t.Errorf("%s: %v", test.deployments, diags)
			continue
		}
		c := m.Common()
		got := c.Name
		for _, have := range c.Capabilities {
			got += " " + have.Name
		}
		var credentials []string
		for _, have := range c.Credentials {
			credentials = append(credentials, have.Name)
		}
		got = fmt.Sprint(got, " ", c.Require, " ", credentials)
		reach := strings.Join(m.Reach(m.Capabilities[0]), " ")
		if got != test.common || reach != test.reach || m.Tagged() != test.tagged {
			t.Errorf("%s:\n%s, reach %s, tagged %t; want\n%s, reach %s, tagged %t", test.deployments, got, reach, m.Tagged(), test.common, test.reach, test.tagged)
		}
	}
}
