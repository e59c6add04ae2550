package lint

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/internal/verbs"
	"github.com/capgen/capgen/schema"
)

// capability applies the rules about one capability.
func (l *linter) capability(c *schema.Capability) {
	l.capabilityName(c)
	l.effect(c)
	if c.Description == c.Summary && len(strings.Fields(c.Summary)) < 4 {
		l.find("missing-description", c.Name, place(c, "summary"), "write what it returns, what it leaves out, and when another serves better",
			"%s has no description, and its summary says little: %s", c.Name, quote(c.Summary))
	}
	if len(c.Search) == 0 {
		l.find("missing-search", c.Name, place(c, "name"), "search: words by which people ask for it and that the summary does not have",
			"%s has no search phrases", c.Name)
	}
	if c.Deprecated != nil && c.Deprecated.Use == "" {
		l.find("deprecated-without-use", c.Name, place(c, "deprecated"), "name the capability to take instead, or say in the description that there is none",
			"%s is deprecated and names no replacement", c.Name)
	}
	if len(c.Scopes) == 0 && (c.World == "open" || c.Effect != "read") {
		why := "its effect is " + c.Effect
		if c.World == "open" {
			why = "it touches systems outside"
		}
		l.find("no-scope", c.Name, place(c, "scopes"), "require a scope, so that a host can withhold it",
			"%s needs no scope, though %s", c.Name, why)
	}
	if c.Approval != nil && c.Approval.SelfAllowed {
		l.find("self-approved", c.Name, place(c, "approval"), "self: forbid, and an account of its own for who approves",
			"%s may be approved by the account that asks for it", c.Name)
	}
	if c.Run != nil && c.Run.Sandbox == schema.SandboxNone {
		l.find("unconfined-run", c.Name, place(c, "sandbox"), "sandbox: landlock, or worker where the runner is one",
			"%s runs candidate code without a sandbox", c.Name)
	}
	l.input(c)
	l.schemaRules(c.Name, "the output of "+c.Name, c.Output, c.Source == nil)
}

// capabilityName applies the rules about how a name reads.
func (l *linter) capabilityName(c *schema.Capability) {
	segments := strings.Split(c.Name, ".")
	leaf := verbs.Words(c.Leaf())
	owner := segments[len(segments)-2]
	if len(leaf) > 1 && slices.Contains([]string{owner, strings.TrimSuffix(owner, "s")}, strings.TrimSuffix(leaf[0], "s")) {
		l.find("name-repeats-namespace", c.Name, place(c, "name"), "programs write the namespace before it: leave the word out",
			"%s says %s twice", c.Name, quote(owner))
	}
	if len(leaf) == 1 && slices.Contains([]string{"do", "run", "call", "handle", "process", "invoke", "execute", "perform", "action", "tool", "main", "data", "misc", "helper", "manage"}, leaf[0]) {
		l.find("vague-name", c.Name, place(c, "name"), "name what is done, and to what", "%s does not say what it does", c.Name)
	}
}

// effect compares the declared effect with what the name says, and with what
// the server that it comes from claims.
func (l *linter) effect(c *schema.Capability) {
	words := verbs.Words(c.Leaf())
	if len(words) > 0 {
		if w := changingWord(words); c.Effect == "read" && w != "" {
			l.find("read-that-changes", c.Name, place(c, "effect"), "declare what it does, or choose a name that says that it only looks",
				"%s has effect read, and its name says %s", c.Name, w)
		}
		for _, w := range []string{words[0], words[len(words)-1]} {
			if c.Effect == "write" && verbs.Destroys(w) {
				l.find("write-that-destroys", c.Name, place(c, "effect"), "effect: destroy, or a name that says that it can be put back",
					"%s has effect write, and its name says %s", c.Name, w)
				break
			}
		}
	}
	for _, claim := range c.Claimed {
		switch {
		case claim.Name == "readOnlyHint" && !claim.Value && c.Effect == "read":
			l.find("effect-below-claim", c.Name, place(c, "effect"), "believe the server: it has no reason to warn in vain", "%s has effect read, and its server says that it is not read-only", c.Name)
		case claim.Name == "destructiveHint" && claim.Value && c.Effect != "destroy" && c.Effect != schema.EffectChange:
			l.find("effect-below-claim", c.Name, place(c, "effect"), "believe the server: it has no reason to warn in vain", "%s has effect %s, and its server says that it is destructive", c.Name, c.Effect)
		}
	}
}

// changingWord is the word of a name that speaks of changing something: the
// first or the last, where verbs stand, or one that is joined to a word for
// looking. A query asks.
func changingWord(words []string) string {
	changes := func(w string) bool { return w != "query" && (verbs.Changes(w) || verbs.Adds(w)) }
	candidates := []string{words[0], words[len(words)-1]}
	if w, looks := verbs.Looks(words[:1]); looks && w == words[0] {
		candidates = nil
		for i, w := range words[:len(words)-1] {
			if w == "and" || w == "or" || w == "then" {
				candidates = append(candidates, words[i+1])
			}
		}
	}
	if i := slices.IndexFunc(candidates, changes); i >= 0 {
		return candidates[i]
	}
	return ""
}
