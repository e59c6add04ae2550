package breaking

import (
	"github.com/capgen/capgen/schema"
)

// approval compares how people approve what a capability does.
func (c *comparer) approval(p place, b, h *schema.Approval) {
	switch {
	case b == nil && h == nil:
		return
	case b == nil:
		c.add(p, "approval-added", "", h.Text())
		return
	case h == nil:
		c.add(p, "approval-removed", b.Text(), "")
		return
	}
	differs := func(field string, less, more bool, lessID, moreID string) {
		switch {
		case less:
			c.add(p.at(field), lessID, b.Text(), h.Text())
		case more:
			c.add(p.at(field), moreID, b.Text(), h.Text())
		}
	}
	differs("min", h.Min < b.Min, h.Min > b.Min, "approval-min-lowered", "approval-min-raised")
	differs("self", !h.SelfAllowed && b.SelfAllowed, h.SelfAllowed && !b.SelfAllowed, "approval-self-forbidden", "approval-self-allowed")
	differs("ttl", h.TTL < b.TTL, h.TTL > b.TTL, "approval-ttl-lowered", "approval-ttl-raised")
	differs("preview", b.Preview && !h.Preview, h.Preview && !b.Preview, "approval-preview-removed", "approval-preview-added")
}

func approvalRules() []Rule {
	return []Rule{
		rule("approval-added", Breaking, Wire, "Nothing takes effect before people have approved: programs call prepare and apply instead of the capability itself, and plans carry the ids of both.", Programs, GoCode, Policies),
		rule("approval-removed", Breaking, Authz, "Calls take effect without anybody's approval.", Policies, Approvals, Programs, GoCode),
		rule("approval-min-lowered", Breaking, Authz, "Fewer people have to approve.", Policies, Approvals),
		rule("approval-min-raised", Warning, Authz, "More people have to approve; plans that are waiting do not land.", Approvals),
		rule("approval-self-allowed", Breaking, Authz, "The account that asks may approve as well.", Policies, Approvals),
		rule("approval-self-forbidden", Warning, Authz, "The account that asks may no longer approve; on one account nothing can be prepared any more.", Approvals),
		rule("approval-ttl-raised", Breaking, Authz, "A plan can be approved and landed for longer.", Policies, Approvals),
		rule("approval-ttl-lowered", Warning, Authz, "A plan can be approved and landed for less time.", Approvals),
		rule("approval-preview-removed", Breaking, Authz, "People no longer see what a call will do before they approve.", Approvals, GoCode),
		rule("approval-preview-added", Breaking, Go, "The handler has to say what a call will do.", GoCode),
	}
}
