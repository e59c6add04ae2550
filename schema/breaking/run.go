package breaking

import (
	"slices"

	"github.com/capgen/capgen/schema"
)

// landing compares what becomes of an approved plan.
func (c *comparer) landing(p place, b, h *schema.Capability) {
	if b.Approval != nil && h.Approval != nil {
		c.differs(p, "landing-changed", landing(b), landing(h))
	}
}

func landing(c *schema.Capability) string {
	switch c.Effect {
	case schema.EffectChange, schema.EffectRun:
		return c.Landing() + " of a " + c.Effect
	}
	return c.Landing() + " of a call"
}

// run compares how a capability executes candidate code. Where only one side
// does, its effect says so.
func (c *comparer) run(of func(string) place, b, h *schema.Run) {
	if b == nil || h == nil {
		return
	}
	c.differs(of("runner"), "runner-changed", b.Runner, h.Runner)
	c.sandbox(of("sandbox"), b.Sandbox, h.Sandbox)
	now := h.Limits.List()
	for i, before := range b.Limits.List() {
		at := of("limits").at(before.Name)
		switch {
		case now[i].Value > before.Value:
			c.add(at, "run-limit-raised", before.Text, now[i].Text)
		case now[i].Value < before.Value:
			c.add(at, "run-limit-lowered", before.Text, now[i].Text)
		}
	}
}

// sandbox compares two tiers. That of workers is neither more nor less than one
// for programs of the machine.
func (c *comparer) sandbox(p place, b, h string) {
	if b != h && b != schema.SandboxNone && h != schema.SandboxNone && slices.Contains([]string{b, h}, schema.SandboxWorker) {
		c.add(p, "sandbox-changed", b, h)
		return
	}
	order := []string{schema.SandboxNone, schema.SandboxLandlock, schema.SandboxNamespaces, schema.SandboxWorker}
	c.ranked(p, order, b, h, "sandbox-lowered", "sandbox-raised")
}

func runRules() []Rule {
	return []Rule{
		rule("landing-changed", Breaking, Go, "What people approve is another kind of thing: a change, a run and a call have other handlers, and a run another name for its landing.", GoCode, Programs),
		rule("runner-changed", Breaking, Authz, "Something else executes what people approve; plans that are waiting do not start.", Policies, Approvals),
		rule("sandbox-lowered", Breaking, Authz, "Candidate code may be confined less. Down to none, starting it is a destroy.", Policies, Approvals),
		rule("sandbox-changed", Breaking, Authz, "Candidate code runs in the host's worker now, confined as that is, or no longer.", Policies, Approvals),
		rule("sandbox-raised", Warning, Authz, "Candidate code has to be confined more: a host that cannot do it prepares nothing. Up from none, starting it is a write, which policies by effect may let more callers do.", Policies, Approvals),
		rule("run-limit-raised", Breaking, Authz, "A run may use more, or more of them run at a time.", Policies, Approvals),
		rule("run-limit-lowered", Warning, Wire, "A run may use less, or fewer of them run at a time.", Programs),
	}
}
