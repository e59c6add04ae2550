package breaking

import (
	"strconv"

	"github.com/capgen/capgen/schema"
)

// deployments compares what builds there are, what each needs, and which
// capabilities it holds of those that are on both sides.
func (c *comparer) deployments() {
	at := place{}.at("deployments")
	c.differs(at.at("default"), "default-none-changed", strconv.FormatBool(c.base.DefaultNone), strconv.FormatBool(c.head.DefaultNone))
	for _, b := range c.base.Deployments {
		p := at.at(b.Name)
		h := c.head.Deployment(b.Name)
		if h == nil {
			c.add(p.in(b.Pos, schema.Position{}), "deployment-removed", b.Name, "")
			continue
		}
		p = p.in(b.Pos, h.Pos)
		c.sets(p.at("require"), b.Require, h.Require, "require-removed", "require-added")
		c.credentials(p.at("credentials"), b.Credentials, h.Credentials)
		for _, pair := range c.report.Pairs {
			reach := place{capability: pair.Head.Name}.at("deployments", b.Name).in(b.Pos, h.Pos)
			switch was, is := b.Holds(pair.Base), h.Holds(pair.Head); {
			case was && !is:
				c.add(reach, "reach-removed", b.Name, "")
			case is && !was:
				c.add(reach, "reach-added", "", b.Name)
			}
		}
	}
	for _, h := range c.head.Deployments {
		if c.base.Deployment(h.Name) == nil {
			c.add(at.at(h.Name).in(schema.Position{}, h.Pos), "deployment-added", "", h.Name)
			// A secret of another deployment may be sent to another host here.
			c.credentials(at.at(h.Name).at("credentials"), nil, h.Credentials)
		}
	}
}

// credentials compares references to secrets, by their names.
func (c *comparer) credentials(p place, b, h []schema.Credential) {
	base := make(map[string]schema.Credential, len(b))
	for _, old := range b {
		base[old.Name] = old
	}
	for _, now := range h {
		at := p.at(now.Name)
		old, known := base[now.Name]
		delete(base, now.Name)
		if !known {
			c.add(at.in(schema.Position{}, now.Pos), "credential-added", "", CredentialText(now))
			continue
		}
		at = at.in(old.Pos, now.Pos)
		c.differs(at.at("host"), "credential-host-changed", old.Host, now.Host)
		c.differs(at.at("from"), "credential-source-changed", old.From+" "+old.Source, now.From+" "+now.Source)
	}
	for _, old := range b {
		if _, gone := base[old.Name]; gone {
			c.add(p.at(old.Name).in(old.Pos, schema.Position{}), "credential-removed", CredentialText(old), "")
		}
	}
}

// CredentialText is a reference to a secret in a line: where it comes from and
// the one host that it is for. The secret itself is in no manifest.
func CredentialText(c schema.Credential) string {
	return c.Name + " from " + c.From + " " + c.Source + " for " + c.Host
}
