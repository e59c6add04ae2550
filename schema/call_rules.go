package schema

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxTimeout = 10 * time.Minute
	maxRetries = 5
	// maxCodes is how many codes a retry may list.
	maxCodes = 64
)

// TimeoutCode is the code of a call that its timeout ended.
const TimeoutCode = "timeout"

// callRules reads timeout and retry.
func (l *loader) callRules(n *node, c *Capability, what string) {
	if v := n.get("timeout"); v != nil {
		c.Timeout, _ = l.duration(v, "timeout", maxTimeout)
	}
	if v := n.get("retry"); v != nil {
		l.retry(v, c, what)
	}
}

// duration reads a whole number with its unit. There is one way to write one:
// no fractions, no sums.
func (l *loader) duration(n *node, what string, most time.Duration) (time.Duration, bool) {
	if n.kind == numberNode {
		f := l.errorf(n.pos, ruleWrongType, "%s has to be a string, not a number", what).hint(durationHint)
		if d, ok := parseDuration(n.text + "s"); ok && d <= most {
			f.hint("write the unit: %ss", n.text)
		}
		return 0, false
	}
	s, ok := l.str(n, what)
	if !ok {
		return 0, false
	}
	d, ok := parseDuration(s)
	switch {
	case !ok:
		l.errorf(n.pos, ruleBadDuration, "%s: %s is no duration", what, quote(s)).
			hint(durationHint)
		return 0, false
	case d > most:
		l.errorf(n.pos, ruleBadDuration, "%s: %s is above %s", what, quote(s), formatDuration(most)).hint("shorten it")
		return 0, false
	}
	return d, true
}

const durationHint = "a whole number from 1 on and ms, s, m or h: 250ms, 2s, 5m"

func parseDuration(s string) (time.Duration, bool) {
	digits := strings.TrimRight(s, "msh")
	units := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}
	unit, ok := units[s[len(digits):]]
	if !ok || digits == "" || digits[0] == '0' || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return time.Duration(n) * unit, err == nil
}

// formatDuration writes a duration as a manifest does, in the largest unit
// that leaves a whole number.
func formatDuration(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	case d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	case d%time.Second == 0:
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

// TimeoutText is the timeout as a manifest writes it; empty for none.
func (c *Capability) TimeoutText() string {
	if c.Timeout == 0 {
		return ""
	}
	return formatDuration(c.Timeout)
}

// retry reads {on, max}.
func (l *loader) retry(n *node, c *Capability, what string) {
	if !l.mapping(n, &l.words.retry, "retry") {
		return
	}
	r := &Retry{}
	if v := l.need(n, "on", "retry", `lists the codes of failures: "on": [busy]`); v != nil {
		r.On = l.codes(v, c)
	}
	if v := l.need(n, "max", "retry", "max is how many calls may follow the first: max: 2"); v != nil {
		r.Max = l.count(v, "max", 1, maxRetries)
	}
	if c.Effect != "read" && c.Idempotency != "natural" && c.Idempotency != "key" {
		l.errorf(n.pos, ruleBadRetry, "%s has effect %s and no idempotency: a call that is repeated may do its work twice", what, quote(c.Effect)).
			hint("remove retry, or say idempotency: natural or key if that is so")
	}
	c.Retry = r
}

// codes reads the list of codes after which a handler is called again.
func (l *loader) codes(n *node, c *Capability) []string {
	if !l.kind(n, listNode, "on") {
		return nil
	}
	if len(n.items) == 0 || len(n.items) > maxCodes {
		l.errorf(n.pos, ruleLimit, "on has %d codes, not between 1 and %d", len(n.items), maxCodes).
			hint(`list the failures that may pass: "on": [busy]`)
		return nil
	}
	var codes []string
	for _, item := range n.items {
		s, ok := l.str(item, "a code")
		switch {
		case !ok:
		case !isSegment(s) || len(s) > maxName:
			l.errorf(item.pos, ruleBadName, "%s is no code of a failure", quote(s)).
				hint("a-z, then a-z, 0-9 and _, at most %d", maxName)
		case slices.Contains(codes, s):
			l.errorf(item.pos, ruleBadRetry, "code %s stands twice", quote(s)).hint("remove one of the two")
		case s == TimeoutCode && c.Timeout == 0:
			l.errorf(item.pos, ruleBadRetry, "code %s without a timeout", quote(s)).hint("write timeout: 2s, or remove it")
		case s != TimeoutCode && len(c.Errors) > 0 && !slices.ContainsFunc(c.Errors, func(e DeclaredError) bool { return e.Code == s }):
			f := l.errorf(item.pos, ruleBadRetry, "code %s is none of the errors that the capability declares", quote(s)).hint("declare it under errors, or remove it")
			var known []string
			for _, e := range c.Errors {
				known = append(known, e.Code)
			}
			l.nearest(f, s, known)
		default:
			codes = append(codes, s)
		}
	}
	slices.Sort(codes)
	return codes
}

// count reads a whole number from low to high.
func (l *loader) count(n *node, what string, low, high int64) int {
	if !l.kind(n, numberNode, what) {
		return 0
	}
	i, ok := parseInteger(n.text)
	if !ok || i < low || i > high {
		l.errorf(n.pos, ruleBadBound, "%s is %s, not a whole number from %d to %d", what, plain(n.text, maxQuoted), low, high).
			hint("change it")
		return 0
	}
	return int(i)
}
