package breaking

// Level is how much a finding weighs.
type Level string

const (
	// Breaking findings fail a comparison unless each is waived.
	Breaking Level = "breaking"
	// Warning is for what breaks nobody for certain, and wants to be read.
	Warning Level = "warning"
	// Note is for what is safe.
	Note Level = "note"
)

// Category is what a rule is about.
type Category string

const (
	// Wire is what programs pass and get.
	Wire Category = "WIRE"
	// Go is generated code: what handlers and hosts compile against.
	Go Category = "GO"
	// Name is what things are called, and for how long.
	Name Category = "NAME"
	// Authz is what a call may do, and who may make it.
	Authz Category = "AUTHZ"
	// Canon is the canonical bytes of arguments, which approvals, audit and
	// idempotency hash.
	Canon Category = "CANON"
	// Prompt is the words that a model reads.
	Prompt Category = "PROMPT"
)

// Party is who may have to act on a finding.
type Party string

// The parties of this version.
const (
	Programs  Party = "programs"
	GoCode    Party = "go"
	Policies  Party = "policies"
	Approvals Party = "approvals"
)

// Rule is one kind of difference.
type Rule struct {
	// ID is stable, in kebab-case: waivers name it.
	ID string
	Level
	Category
	// Text says in one sentence what differs.
	Text string
	// Breaks are the parties that the difference may break; none for most
	// notes.
	Breaks []Party
}

func rule(id string, level Level, category Category, text string, breaks ...Party) Rule {
	return Rule{id, level, category, text, breaks}
}

// Rules is the table of all rules, in the order in which a comparison meets
// them. No two have the same id.
func Rules() []Rule {
	all := manifestRules()
	all = append(all, deploymentRules()...)
	all = append(all, capabilityRules()...)
	all = append(all, approvalRules()...)
	all = append(all, runRules()...)
	all = append(all, callRules()...)
	all = append(all, textRules()...)
	all = append(all, valueRules()...)
	all = append(all, propertyRules()...)
	return append(all, boundRules()...)
}

func manifestRules() []Rule {
	return []Rule{
		rule("server-name-changed", Breaking, Name, "The server has another name, by which clients and policies know it.", Policies),
		rule("server-title-changed", Warning, Prompt, "The server's title changed."),
		rule("server-version-changed", Note, Name, "The server's version changed."),
		rule("instructions-changed", Warning, Prompt, "The instructions, which a model reads first, changed."),
		rule("go-package-changed", Breaking, Go, "The generated code has another import path.", GoCode),
		rule("type-added", Note, Go, "A named type is new."),
		rule("type-removed", Breaking, Go, "A named type, and its Go type, is gone.", GoCode),
		rule("go-type-changed", Breaking, Go, "A value has another Go type: its named type is another, or it is held by a pointer now, or no longer.", GoCode),
		rule("program-added", Note, Prompt, "An example that is a whole program is new."),
		rule("program-removed", Note, Prompt, "An example that is a whole program is gone."),
		rule("program-changed", Note, Prompt, "An example that is a whole program changed."),
		rule("allowance-added", Warning, Prompt, "A finding of capgen lint is accepted."),
		rule("allowance-changed", Warning, Prompt, "A finding of capgen lint is accepted for another reason."),
		rule("allowance-removed", Note, Prompt, "A finding of capgen lint is no longer accepted."),
	}
}

func deploymentRules() []Rule {
	return []Rule{
		rule("deployment-added", Warning, Authz, "A deployment is new."),
		rule("deployment-removed", Breaking, Go, "A deployment is gone: builds by its tag fail.", GoCode),
		rule("default-none-changed", Warning, Go, "A build without a tag does not compile any more, or compiles now.", GoCode),
		rule("reach-added", Breaking, Authz, "A deployment holds a capability that was there and that it did not hold.", Policies, Approvals),
		rule("reach-removed", Breaking, Wire, "A deployment no longer holds a capability.", Programs),
		rule("require-added", Warning, Authz, "A deployment requires something more: a host without it does not start.", GoCode),
		rule("require-removed", Breaking, Authz, "A deployment requires something less.", Policies, Approvals),
		rule("credential-added", Breaking, Authz, "Handlers of a deployment get a further secret.", Policies, GoCode),
		rule("credential-removed", Breaking, Go, "Handlers of a deployment get a secret less.", GoCode),
		rule("credential-host-changed", Breaking, Authz, "A secret may be sent to another host.", Policies),
		rule("credential-source-changed", Breaking, Authz, "A secret is read from another place: another one may be sent to its host.", Policies, GoCode),
	}
}

func capabilityRules() []Rule {
	return []Rule{
		rule("capability-added", Note, Name, "A capability is new."),
		rule("capability-removed", Breaking, Wire, "A capability is gone that was not deprecated, or before the day for which its removal was announced.", Programs, GoCode, Policies, Approvals),
		rule("capability-retired", Note, Wire, "A capability is gone after the day for which its removal was announced.", Programs, GoCode),
		rule("capability-renamed", Breaking, Name, "A capability has another name; programs that use the old one are told the new one.", Programs, GoCode),
		rule("rename-undeclared", Breaking, Name, "A capability, known by its id, has another name, and its old one is not in was: programs are not told.", Programs, GoCode),
		rule("old-name-added", Note, Name, "was lists a further name, or the same in another order."),
		rule("old-name-dropped", Warning, Name, "was no longer lists a name: programs that use it are not told the new one.", Programs),
		rule("id-changed", Breaking, Authz, "A capability has another id: policies, filters and approvals by the old one no longer meet it.", Policies, Approvals),
		rule("effect-raised", Breaking, Authz, "A capability may do more than it could: read, write, destroy, change, run, from less to more.", Policies, Approvals, Programs),
		rule("effect-lowered", Breaking, Authz, "A capability claims to do less: policies by effect will let more callers reach it.", Policies, Approvals),
		rule("idempotency-weakened", Breaking, Authz, "Repeating a call is no longer as safe: natural, key, none, from more to less.", Programs, Policies),
		rule("idempotency-strengthened", Warning, Authz, "Repeating a call is claimed to be safer: clients will repeat it."),
		rule("world-opened", Breaking, Authz, "A capability touches systems outside now.", Policies, Approvals),
		rule("world-closed", Warning, Authz, "A capability claims to touch no system outside any more.", Policies),
		rule("scope-added", Breaking, Authz, "A capability needs a further scope: callers without it are refused.", Programs, Policies),
		rule("scope-removed", Breaking, Authz, "A capability needs a scope less: callers without it reach it now.", Policies, Approvals),
		rule("tag-added", Warning, Authz, "A capability has a further tag, by which deployments select."),
		rule("tag-removed", Warning, Authz, "A capability has a tag less, by which deployments select."),
		rule("direct-tool-added", Warning, Prompt, "A capability is an MCP tool of its own now: clients read its words and schemas in every session."),
		rule("direct-tool-removed", Breaking, Wire, "A capability is no MCP tool of its own any more; programs call it as before.", Programs),
		rule("direct-tool-renamed", Breaking, Wire, "The MCP tool of its own that a capability is has another name.", Programs),
		rule("source-changed", Breaking, Authz, "A capability stands for another tool of another server, or for none, or for one now.", Policies, Approvals, GoCode),
		rule("source-title-changed", Note, Prompt, "The other server's title of its tool changed."),
		rule("claim-changed", Warning, Authz, "What the other server claims of its tool changed."),
		rule("deprecated-added", Warning, Name, "A capability is on its way out.", Programs),
		rule("deprecated-removed", Note, Name, "A capability that was on its way out is to stay."),
		rule("removal-earlier", Breaking, Name, "A capability may be removed earlier than was announced.", Programs, GoCode),
		rule("deprecation-changed", Note, Name, "What is said of a capability's way out changed."),
	}
}

func callRules() []Rule {
	return []Rule{
		rule("timeout-lowered", Warning, Wire, "A call has less time, or a bound where it had none.", Programs),
		rule("timeout-raised", Note, Wire, "A call has more time."),
		rule("retry-widened", Warning, Authz, "The handler is called again after more failures, or more often."),
		rule("retry-narrowed", Warning, Wire, "The handler is called again after fewer failures, or less often: more failures reach programs.", Programs),
		rule("output-check-loosened", Breaking, Wire, "A result that breaks its schema is delivered now.", Programs),
		rule("output-check-tightened", Warning, Wire, "A result that breaks its schema fails the call now.", Programs, GoCode),
		rule("limits-added", Breaking, Wire, "A result is cut now: programs get a record of items and truncated.", Programs),
		rule("limits-removed", Breaking, Wire, "A result is no longer cut: programs get it without the record around it.", Programs),
		rule("limits-lowered", Warning, Wire, "A result is cut earlier.", Programs),
		rule("limits-raised", Note, Wire, "A result is cut later."),
		rule("keep-changed", Warning, Authz, "A smaller part of the result reaches programs."),
		rule("keep-widened", Breaking, Authz, "A part of the result reaches programs that was kept from them.", Policies, Approvals),
		rule("handler-output-changed", Breaking, Go, "What the handler has to return changed in a part that programs do not see.", GoCode),
		rule("pagination-added", Note, Wire, "A result is a page now: programs may read several."),
		rule("pagination-removed", Breaking, Wire, "A result is no page any more: pages() refuses it, and the Go iterator is gone.", Programs, GoCode),
		rule("pagination-changed", Breaking, Wire, "One page leads to the next in another way.", Programs, GoCode),
		rule("fixed-added", Breaking, Authz, "The manifest sets a parameter that programs gave.", Programs, Approvals),
		rule("fixed-removed", Breaking, Authz, "A parameter that the manifest set is in the hands of programs now, or gone.", Policies, Approvals),
		rule("fixed-changed", Breaking, Authz, "The manifest sets a parameter to another value.", Policies, Approvals),
		rule("errors-declared", Breaking, Wire, "A capability declares its errors now: codes that it does not list no longer reach programs.", Programs, GoCode),
		rule("error-added", Warning, Wire, "A capability may fail with a further code.", Programs),
		rule("error-removed", Breaking, Go, "A code of a failure is gone, and its Go error with it.", GoCode, Programs),
		rule("error-text-changed", Warning, Prompt, "The text of a failure changed."),
		rule("example-added", Note, Prompt, "An example is new; the first is shown to models."),
		rule("example-removed", Note, Prompt, "An example is gone."),
		rule("example-changed", Warning, Prompt, "An example of the same title has another input or outcome."),
		rule("examples-reordered", Note, Prompt, "Examples stand in another order; the first is shown to models."),
	}
}

func textRules() []Rule {
	return []Rule{
		rule("summary-changed", Warning, Prompt, "A summary changed."),
		rule("description-changed", Warning, Prompt, "A description changed."),
		rule("search-added", Warning, Prompt, "A search phrase is new."),
		rule("search-removed", Warning, Prompt, "A search phrase is gone."),
		rule("search-reordered", Note, Prompt, "Search phrases stand in another order."),
		rule("schema-title-changed", Warning, Prompt, "The title of a value changed."),
		rule("schema-description-changed", Warning, Prompt, "The description of a parameter, a member or a type changed."),
		rule("schema-examples-changed", Warning, Prompt, "The example values of a schema changed."),
		rule("property-deprecated", Warning, Prompt, "A parameter or member is on its way out."),
		rule("property-undeprecated", Note, Prompt, "A parameter or member that was on its way out is to stay."),
	}
}
