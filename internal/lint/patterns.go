package lint

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// pattern is a rule whose finding is a match.
type pattern struct {
	rule, message, hint string
	re                  *regexp.Regexp
	// near are what no match is without, in lower case: most texts hold none
	// of them, and looking is faster than matching. Empty is always near.
	near []string
	// counts tells which matches are meant; nil for all.
	counts func(string) bool
}

// lower is s as near is compared with it. The expressions fold the long s too.
func lower(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ſ", "s") }

// find is the first match that counts, empty for none; low is s in lower case.
func (p *pattern) find(s, low string) string {
	if len(p.near) > 0 && !slices.ContainsFunc(p.near, func(n string) bool { return strings.Contains(low, n) }) {
		return ""
	}
	if p.counts == nil {
		m := strings.TrimSpace(p.re.FindString(s))
		if shorter := strings.TrimLeft(m, ".,:;(*• \n\t"); shorter != "" {
			return shorter
		}
		return m
	}
	for _, m := range p.re.FindAllString(s, -1) {
		if p.counts(m) {
			return m
		}
	}
	return ""
}

// patterns are compiled once for each run. RE2 takes time linear in a text.
type patterns struct {
	inProse, inValues, inAll []pattern
	link, word, namedTool    *regexp.Regexp
}

// either is an expression for any of several, without regard to case.
func either(expressions ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join(expressions, "|"))
}

func newPatterns() *patterns {
	return &patterns{
		link:      either("\\b(?:https?|wss?|ftp)://[^\\s<>\"'`)\\]}|\\\\]+"),
		word:      regexp.MustCompile(`[\pL\pM]+`),
		namedTool: either("\\b([a-z][a-z0-9]*(?:[_.-][a-z0-9]+)*)[`'\"]?\\s+(?:tools?|function)\\b"),
		inProse:   append(orders(), disguises()...),
		inValues: []pattern{{
			rule: "interpolation", near: []string{"$", "{{"}, message: "looks as if something were filled in",
			hint: "write the value: nothing is filled in here, and credentials do not belong in a contract",
			re:   either(`\$\{\w+\}`, `\{\{[^{}]*\}\}`, `\$\(\w+\)`),
		}},
		inAll: secrets(),
	}
}

const (
	doNot     = `\b(?:do\s+not|don['’]t|never|must\s+not|should\s+not|shall\s+not|without|avoid|refrain\s+from)\s+`
	aboutUser = `(?:the|any|your)\s+(?:end[- ])?(?:user|human|person|customer|operator)s?\b`
	// call is what a model does with a tool, verb what an order may tell it to.
	call = `(?:call|use|run|invoke|execute|query)`
	verb = `(?:use|call|run|ask|show|tell|return|include|provide|pass|make|set|respond|answer|reply|say|assume|check|verify|try|start|do|rely|` +
		`attempt|prefer|leave|wait|add|invoke|skip|write|read|chunk|follow|present|display|output|generate|inform|confirm|request|fetch|search)`
)

// orders are what tells a model how to behave. An order names what it wants of
// a model, not of an argument: “must be absolute” is none, “you must use
// absolute paths” is.
func orders() []pattern {
	return []pattern{
		{rule: "order-secrecy", near: []string{"tell", "inform", "mention", "notify", "alert", "reveal", "disclos", "show", "ask", "warn", "hide", "conceal", "keep"}, message: "tells the model to keep something from people",
			hint: "describe what the capability does; nothing here may be kept from people",
			re: either(
				doNot+`(?:\w+\s+){0,2}?(?:tell|inform|mention|notify|alert|reveal|disclose|show|ask|warn)(?:ing)?\b(?:\s+\w+){0,4}?\s+(?:to\s+)?`+aboutUser,
				`\b(?:hide|conceal|keep)\s+(?:this|it|that|them)\s+(?:\w+\s+){0,2}?(?:from|secret|hidden)\b`,
			)},
		{rule: "order-override", near: []string{"ignore", "disregard", "forget", "override", "bypass", "system", "you", "instruction", "pretend"}, message: "tells the model what to make of its other instructions",
			hint: "remove it: a description has no say over other instructions",
			re: either(
				`\b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){0,3}?(?:previous|prior|above|earlier|preceding|system|safety|all)\s+(?:\w+\s+){0,3}?`+
					`(?:instructions?|prompts?|rules?|guidelines?|messages?|directions?|policies)\b`,
				`\bsystem\s+prompt\b`, `\byou\s+are\s+now\b`, `\bnew\s+instructions?\s*:`, `\bpretend\s+(?:to\s+be|that\s+you)\b`,
			)},
		{rule: "order-sequence", near: []string{"call", "use", "run", "invoke", "execut", "query", "invoking", "prefer", "tool", "other"}, message: "tells the model when to call what",
			hint: "say what the capability needs and returns; a program's author chooses the order",
			re: either(
				`\b(?:always|first|must|should|be\s+sure\s+to|make\s+sure\s+to|remember\s+to)\s+(?:first\s+|always\s+)?`+call+"\\s+(?:this|the\\s+\\S+\\s+(?:tool|function)|[`'\"]?\\w+[_.]\\w+)",
				`\b`+call+"\\s+(?:this|it|[`'\"]?\\w+[_.]\\w+[`'\"]?)(?:\\s+(?:tool|function))?\\s+(?:first|before|every\\s+time)\\b",
				`\bbefore\s+(?:using|calling|running|invoking)\s+(?:any|all|other|another|this|the)\b`,
				`\b(?:instead\s+of|over|rather\s+than)\s+(?:using\s+)?(?:any\s+|all\s+)?other\s+(?:tools?|functions?)\b`,
				`\b(?:never|do\s+not|don['’]t)\s+(?:use|call)\s+(?:any\s+)?(?:other|another)\s+(?:tools?|functions?)\b`,
				`\bprefer\s+(?:this|it)\s+(?:\w+\s+)?over\b`, `\bprimary\s+tool\b`,
			)},
		{rule: "order-to-model", near: []string{"always", "never", "you", "model", "assistant", "agent", "llm", "ai", "claude", "chatgpt", "copilot", "gemini", "user", "do", "don"}, message: "gives the model an order",
			hint: "describe what the capability does and takes, and leave the conduct of the model to who runs it",
			re: either(
				`(?:^|[.!?:;,\n(*•-]\s*|\b(?:and|but)\s+)(?:always|never)\s+`+verb+`\b`,
				`\byou\s+(?:must|should|need\s+to|have\s+to|are\s+required\s+to|shall)\b`,
				`\b(?:model|assistant|agent|llm|ai|claude|chatgpt|copilot|gemini)\s+(?:must|should|shall|needs\s+to|has\s+to|is\s+required)\b`,
				`\b(?:ask|tell|inform|notify|remind|prompt)\s+(?:the|your)\s+users?\b`,
				`\b(?:do\s+not|don['’]t)\s+(?:use|call|guess|assume|hallucinate|invent|make\s+up|wait|rely|retry|ask)\b`,
			)},
		{rule: "urgency", message: "shouts at the model", hint: "say it once, in plain words",
			re: regexp.MustCompile(`\b(?:IMPORTANT|CRITICAL|URGENT|MANDATORY|WARNING|ATTENTION|CAUTION|ALWAYS|NEVER|MUST|DO NOT|DON'T|ABSOLUTELY|STOP)\b` +
				`|!!+|(?i:\burgent(?:ly)?\b)|\b\p{Lu}{3,}(?: \p{Lu}{2,}){3,}\b`)},
	}
}

// disguises are what a reviewer may not see for what it is.
func disguises() []pattern {
	return []pattern{
		{rule: "html-comment", near: []string{"<!--", "-->"}, message: "holds an HTML comment", hint: "remove it: a page that is rendered hides it, a model reads it", re: either(`<!--`, `-->`)},
		{rule: "role-markup", near: []string{"<", "[inst]", "[/inst]", "system", "assistant"}, message: "holds markup that speaks to a model", hint: "remove it: it imitates the turns of a conversation",
			re: either(
				`</?(?:system|assistant|user|human|instructions?|important|secret|hidden|prompt|admin|tool_call|tool_result|function_calls?)(?:\s[^<>]*)?>`,
				`<\|[a-z_]+\|>`, `\[/?INST\]`, `(?m:^\s*(?:system|assistant)\s*:\s)`,
			)},
		{rule: "secret-path", near: []string{".", "id_", "/etc/", "/proc/"}, message: "names a place where secrets are kept", hint: "name no place where secrets are kept",
			re: either(
				`(?:~|\$HOME|/root|/home/\w+)/\.(?:ssh|aws|gnupg|kube|docker|azure|netrc|npmrc|pypirc|git-credentials|cursor|config/gcloud)\b`,
				"(?:^|[\\s\"'(/`])\\.(?:ssh/|env\\b|netrc\\b|npmrc\\b|pypirc\\b|git-credentials\\b|aws/credentials|kube/config)",
				`\bid_(?:rsa|dsa|ecdsa|ed25519)\b`, `/etc/(?:shadow|passwd|sudoers)\b`, `/proc/(?:self|\d+)/environ\b`,
			)},
		{rule: "placeholder", message: "is not written yet", hint: "write what is meant",
			re: regexp.MustCompile(`^(?i:tbd|todo|fixme|xxx|n/a|description|string|text|none|foo|placeholder)\.?$|\b(?:TODO|FIXME|TBD):|(?i:\blorem ipsum\b)`)},
		{rule: "encoded-text", message: "holds a long run of encoded text", hint: "write it out, or leave it out",
			re: regexp.MustCompile(`[A-Za-z0-9+/_=-]{100,}`), counts: random},
	}
}

// random tells encoded text from rules of dashes and long paths.
func random(s string) bool {
	return strings.ContainsFunc(s, unicode.IsUpper) && strings.ContainsFunc(s, unicode.IsLower) && strings.ContainsFunc(s, unicode.IsDigit)
}

// secrets are the forms of keys that say what they are, passwords in addresses,
// and words for a secret with one behind.
func secrets() []pattern {
	const (
		message = "holds what looks like a secret"
		hint    = "take it out, and revoke it: it is in the history now"
	)
	return []pattern{
		{rule: "secret", message: message, hint: hint, re: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY` +
			`|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b` +
			`|\bgh[oprsu]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{22,}\b|\bglpat-[A-Za-z0-9_-]{20,}` +
			`|\bxox[abeoprs]-[A-Za-z0-9-]{10,}` +
			`|\b(?:sk|rk|pk)[-_](?:live|test|proj|ant)[-_][A-Za-z0-9_-]{16,}|\bsk-[A-Za-z0-9]{32,}\b` +
			`|\bAIza[A-Za-z0-9_-]{35}|\bnpm_[A-Za-z0-9]{36}\b|\bhf_[A-Za-z0-9]{30,}\b|\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{40,}` +
			`|\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}` +
			`|://[^\s/:@"'<>{}]+:[^\s/:@"'<>{}]+@`)},
		{rule: "secret", message: message, hint: hint,
			re: either(
				`\bbearer\s+[a-z0-9._~+/-]{24,}`,
				`\b(?:password|passwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token)["']?\s*[:=]\s*["']?[a-z0-9+/_.~!@#$%^&*-]{12,}`,
			),
			near:   []string{"bearer", "passw", "secret", "key", "token"},
			counts: func(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }},
	}
}
