package schema

import (
	"encoding/hex"
	"strings"
)

const (
	// MaxWaiverBytes is how long the file of one waiver may be, in bytes.
	MaxWaiverBytes = 64 << 10

	maxWaiverReason = 2_000
	maxApprover     = 200
	maxTarget       = 1_024
	// fingerprintPrefix begins what names a capability's exact contract.
	fingerprintPrefix = "sha256:"
)

// Waiver lets one finding of a comparison of two manifests pass. It names it
// exactly: there are no patterns.
type Waiver struct {
	// Rule and Target are the finding's. Fingerprint is that of the capability
	// in the contract that was approved.
	Rule, Target, Fingerprint string
	// Reason and Approver are for people. Expires is the last day on which the
	// waiver holds, of the form 2026-11-29.
	Reason, Approver, Expires string
	Pos                       Position
}

// LoadWaiver reads the text of one waiver, a file of YAML called name. With an
// error among the diagnostics there is none. It is as strict as Load: nothing is
// ignored, and time and memory are bounded whatever the bytes are.
func LoadWaiver(text []byte, name string) (*Waiver, []Diagnostic) {
	limits := defaultLimits()
	limits.fileBytes = MaxWaiverBytes
	l := &loader{report: newReport(), limits: limits}
	w := l.waiver(parse(l.report, limits, name, text))
	if l.failed {
		w = nil
	}
	return w, l.diagnostics()
}

func (l *loader) waiver(n *node) *Waiver {
	v := vocabulary{what: "a waiver", known: []string{"rule", "target", "fingerprint", "reason", "approver", "expires"}}
	if n == nil || !l.mapping(n, &v, v.what) {
		return nil
	}
	w := &Waiver{Pos: n.pos}
	if v := l.need(n, "rule", "a waiver", "the id of the rule, as the finding shows it"); v != nil {
		w.Rule, _ = l.line(v, "rule", maxTitle)
	}
	if v := l.need(n, "target", "a waiver", "what the finding is about: files.list#/effect"); v != nil {
		w.Target, _ = l.line(v, "target", maxTarget)
	}
	if v := l.need(n, "fingerprint", "a waiver", "the finding's fingerprint, sha256:…"); v != nil {
		w.Fingerprint = l.fingerprint(v)
	}
	if v := l.need(n, "reason", "a waiver", "why those whom it breaks can live with it"); v != nil {
		w.Reason, _ = l.text(v, "reason", maxWaiverReason)
	}
	if v := l.need(n, "approver", "a waiver", "who has agreed"); v != nil {
		w.Approver, _ = l.line(v, "approver", maxApprover)
	}
	if v := l.need(n, "expires", "a waiver", `the last day on which it holds: expires: "2026-11-29"`); v != nil {
		w.Expires = l.day(v, "expires")
	}
	return w
}

func (l *loader) fingerprint(n *node) string {
	s, ok := l.str(n, "fingerprint")
	if !ok {
		return ""
	}
	digits, ok := strings.CutPrefix(s, fingerprintPrefix)
	if b, err := hex.DecodeString(digits); !ok || err != nil || len(b) != 32 || digits != strings.ToLower(digits) {
		l.errorf(n.pos, ruleBadValue, "%s is no fingerprint", quote(s)).
			hint("sha256: and 64 hexadecimal digits, in full: a part of one would stand for others as well")
		return ""
	}
	return s
}
