package schema

import (
	"slices"
	"strings"
	"time"
)

// Bounds and defaults of approval.
const (
	maxApprovers   = 5
	defaultPlanTTL = 15 * time.Minute
	minPlanTTL     = time.Minute
	maxPlanTTL     = 24 * time.Hour
	// maxGoverned is the longest name of a capability with an approval, in bytes:
	// those of its parts are names, too.
	maxGoverned = maxName - len("."+StepPrepare)
)

// The words of approval.self.
const (
	SelfForbid = "forbid"
	SelfAllow  = "allow"
)

// Approval says how people approve a plan before it lands.
type Approval struct {
	// Min is how many people have to approve, 1 to 5.
	Min int
	// SelfAllowed lets the account that asks approve as well.
	SelfAllowed bool
	// TTL is for how long a plan can be approved and landed, a minute to a day.
	TTL time.Duration
	// Preview tells that the handler of a write or destroy says beforehand what
	// a call will do.
	Preview bool
}

// Text is the approval in a line, as lock files and reviews have it.
//
//	min=1 self=forbid ttl=15m
func (a *Approval) Text() string {
	self := SelfForbid
	if a.SelfAllowed {
		self = SelfAllow
	}
	text := "min=" + string(rune('0'+a.Min)) + " self=" + self + " ttl=" + formatDuration(a.TTL)
	if a.Preview {
		text += " preview"
	}
	return text
}

// approval reads {required, min, self, ttl, preview}, after effect.
func (l *loader) approval(n *node, c *Capability, what string) {
	v := n.get("approval")
	switch {
	case v == nil && c.plans():
		l.errorf(c.At["effect"], ruleMissingField, "%s with effect %s needs %s", what, c.Effect, quote("approval")).
			hint("approval: {required: true}: what %s, people decide", map[string]string{EffectChange: "a change replaces", EffectRun: "runs"}[c.Effect])
		return
	case v == nil:
		return
	case c.Effect == "read":
		l.errorf(v.pos, ruleBadApproval, "%s has effect read, which nobody has to approve", what).
			hint("remove approval, or say what it does: effect: write, destroy, change or run")
		return
	case v.kind == boolNode:
		l.errorf(v.pos, ruleWrongType, "approval has to be a mapping, not a boolean").hint("approval: {required: true}")
		return
	}
	if !l.mapping(v, &l.words.approval, "approval") {
		return
	}
	a := &Approval{Min: 1, TTL: defaultPlanTTL}
	if r := l.need(v, "required", "approval", "required: true, written out"); r != nil && l.kind(r, boolNode, "required") && r.text != "true" {
		l.errorf(r.pos, ruleBadValue, "approval that is not required is none").hint("required: true, or remove approval")
	}
	if m := v.get("min"); m != nil {
		a.Min = l.count(m, "min", 1, maxApprovers)
	}
	if s := v.get("self"); s != nil {
		word, _ := l.word(s, "self", []string{SelfForbid, SelfAllow}, nil)
		a.SelfAllowed = word == SelfAllow
	}
	if t := v.get("ttl"); t != nil {
		a.TTL = l.planTTL(t)
	}
	if p := v.get("preview"); p != nil && l.kind(p, boolNode, "preview") {
		a.Preview = p.text == "true"
		switch {
		case a.Preview && c.Effect == EffectChange:
			l.errorf(p.pos, ruleBadApproval, "a change needs no preview: people see what differs, file by file").hint("remove it")
		case a.Preview && c.Effect == EffectRun:
			l.errorf(p.pos, ruleBadApproval, "a run needs no preview: people see what runs, file by file").hint("remove it")
		}
	}
	c.Approval = a
	c.Idempotency = "key"
	if v := n.get("idempotency"); v != nil && v.kind == stringNode && v.text != "key" {
		l.errorf(v.pos, ruleBadApproval, "idempotency %s with approval: what lands has a key, always", quote(v.text)).
			hint("write key, or leave it out")
	}
}

// planTTL reads how long a plan can be approved.
func (l *loader) planTTL(n *node) time.Duration {
	d, ok := l.duration(n, "ttl", maxPlanTTL)
	if ok && d < minPlanTTL {
		l.errorf(n.pos, ruleBadDuration, "ttl: %s is below %s", quote(n.text), formatDuration(minPlanTTL)).hint("people need time to read")
	}
	return d
}

// governed checks what else a capability with an approval says: the rest of
// its entry has to be lowered.
func (l *loader) governed(n, keep *node, c *Capability, what string) {
	for _, key := range []string{"retry", "output_check", "limits", "pagination"} {
		if v := n.get(key); v != nil && (key != "limits" || c.Run == nil && c.Effect != "") {
			l.errorf(v.pos, ruleBadApproval, "%s with approval: %s is called once, and its result is kept as it is", key, what).hint("remove it")
		}
	}
	if keep != nil {
		l.errorf(keep.pos, ruleBadApproval, "keep with approval: the result of %s is kept as it is", what).hint("remove it")
	}
	switch v := n.get("examples"); {
	case v == nil:
	case c.Effect == EffectChange:
		l.errorf(v.pos, ruleBadExample, "a change returns nothing that an example could show").hint("show it in a program, under programs")
	case c.Effect == EffectRun:
		l.runExamples(v)
	}
	if len(c.Name) > maxGoverned {
		l.errorf(c.At["name"], ruleLimit, "%s has %d bytes: with %s behind it that is too long", quote(c.Name), len(c.Name), dot(StepPrepare)).
			hint("the name of a capability with approval has at most %d bytes", maxGoverned)
	}
	if v := n.get("id"); v != nil && len(c.ID) > maxID-len(dot(StepPrepare)) {
		l.errorf(v.pos, ruleLimit, "id %s has %d bytes: with %s behind it that is too long", quote(c.ID), len(c.ID), dot(StepPrepare)).hint("shorten it")
	}
	object := Resolve(c.Input)
	if object == nil || object.Kind != Object {
		return // reported already
	}
	for _, p := range object.Properties {
		if p.Name == keyParameter {
			at := c.At["approval"]
			l.errorf(p.Pos, ruleBadApproval, "parameter %s of %s: its prepare takes the key of the plan under that name, by approval at %s", quote(p.Name), what, at).
				hint("choose another name").related(at)
		}
	}
	if c.Input.Kind == Ref {
		// What is approved has a Go type of its own, whose parts prepare shares.
		input := *object
		input.Pos = c.Input.Pos
		if c.Input.Description != "" {
			input.Description, input.DescriptionAt = c.Input.Description, c.Input.DescriptionAt
		}
		c.Input = &input
	}
}

// partsCollide reports ids and names of parts that are another capability's.
func (l *loader) partsCollide(all []named, byName, byID map[string]*named) {
	report := func(at Position, part string, other *named) {
		l.errorf(at, ruleIDCollision, "%s, which approval makes, is the id or name of another capability, at %s", quote(part), other.idAt).
			hint("choose another id").related(other.idAt)
	}
	any, runs := false, false
	for i := range all {
		c := &all[i]
		if c.Approval == nil {
			continue
		}
		any, runs = true, runs || c.Run != nil
		for _, step := range c.steps() {
			part := strings.ToLower(c.ID) + dot(step)
			if other := byID[part]; other != nil && other.Name != c.Name+dot(step) { // that one is reported
				report(c.idAt, part, other)
			} else if other := byName[part]; other != nil && c.ID != c.Name {
				report(c.idAt, part, other)
			}
			if other := byID[c.Name+dot(step)]; other != nil && c.ID != c.Name {
				report(c.nameAt, c.Name+dot(step), other)
			}
		}
	}
	if !any {
		return
	}
	for _, name := range familyNames(runs) {
		if other := byID[name]; other != nil {
			l.errorf(other.idAt, ruleIDCollision, "id %s is the name of a capability that approval brings", quote(name)).hint("choose another id")
		}
	}
}

func dot(step string) string { return "." + step }

// isStep tells whether a name is one of a part of a capability.
func isStep(name string) bool {
	i := strings.LastIndexByte(name, '.')
	return i > 0 && slices.Contains(Steps(), name[i+1:])
}
