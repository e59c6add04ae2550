package lint

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// maxText is how many characters a text has before it is long.
const maxText = 1_000

// prose applies the rules about what a model reads.
func (l *linter) prose(t text) {
	low := lower(t.s)
	plain := strings.NewReplacer("*", "", "__", "", "~~", "").Replace(t.s)
	for _, p := range l.inProse {
		match := p.find(t.s, low)
		if match == "" && plain != t.s {
			match = p.find(plain, lower(plain)) // marks of emphasis do not make it another order
		}
		if match != "" {
			l.find(p.rule, t.target, t.at, p.hint, "%s %s: %s", t.what, p.message, quote(match))
		}
	}
	if n := utf8.RuneCountInString(t.s); n > maxText {
		l.find("long-text", t.target, t.at, "keep what is needed to choose and call it; put the rest where it belongs: parameters, types, examples",
			"%s has %d characters, more than %d", t.what, n, maxText)
	}
	for _, r := range t.s {
		// U+FE0F only asks for an emoji in colour.
		if !visible.Readable(r) && r != '\n' && r != '\t' && r != 0xfe0f {
			l.find("unreadable-text", t.target, t.at, "remove it: a reviewer may not see it, a model reads it", "%s holds the character U+%04X", t.what, r)
			break
		}
	}
	for _, w := range l.foreignWords(t.s) {
		if mixed(w) {
			l.find("mixed-script", t.target, t.at, "write the word in one script", "%s has a word that mixes scripts: %s", t.what, strconv.QuoteToASCII(w[:min(len(w), 80)]))
			break
		}
	}
	l.otherTools(t)
}

// anyText applies the rules about all texts, programs and data as well.
func (l *linter) anyText(t text) {
	low := lower(t.s)
	for _, p := range l.inAll {
		if match := p.find(t.s, low); match != "" {
			// The finding must not spread what it found.
			l.find(p.rule, t.target, t.at, p.hint, "%s %s: %s", t.what, p.message, quote(match[:min(len(match), 6)]+"…"))
		}
	}
	if t.kind == value && t.sets {
		for _, p := range l.inValues {
			if match := p.find(t.s, low); match != "" {
				l.find(p.rule, t.target, t.at, p.hint, "%s %s: %s", t.what, p.message, quote(match))
			}
		}
	}
	if t.kind == prose || t.sets {
		l.links(t)
	}
}

// foreignWords are the words of a text that is not ASCII only.
func (l *linter) foreignWords(s string) []string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil
	}
	return l.word.FindAllString(s, -1)
}

// links reports addresses of hosts that nobody has declared.
func (l *linter) links(t text) {
	if !strings.Contains(t.s, "://") {
		return
	}
	var hosts []string
	for _, m := range l.link.FindAllString(t.s, -1) {
		u, err := url.Parse(strings.TrimRight(m, ".,;:!?"))
		if err != nil || u.Hostname() == "" {
			continue
		}
		if h := strings.ToLower(u.Hostname()); !reserved(h) && !l.hosts[h] && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	if len(hosts) > 0 {
		var quoted []string
		for _, h := range hosts {
			quoted = append(quoted, quote(h))
		}
		l.find("undeclared-host", t.target, t.at, "leave the address out, or allow it with a reason; hosts are declared by the credentials for them", "%s names a host that the manifest does not declare: %s", t.what, list(quoted))
	}
}

// declaredHosts are those that the deployments hold credentials for.
func declaredHosts(m *schema.Manifest) map[string]bool {
	hosts := make(map[string]bool)
	for _, d := range m.Deployments {
		for _, c := range d.Credentials {
			host := c.Host
			if h, _, err := net.SplitHostPort(host); err == nil {
				host = h
			}
			hosts[strings.ToLower(host)] = true
		}
	}
	return hosts
}

// reserved tells whether a host is nobody's: this machine, or a name of
// RFC 2606 and RFC 6761, or one that a text leaves to be filled in.
func reserved(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsUnspecified()
	}
	for _, name := range []string{"localhost", "example", "test", "invalid", "example.com", "example.org", "example.net"} {
		if host == name || strings.HasSuffix(host, "."+name) {
			return true
		}
	}
	return strings.ContainsAny(host, "{$%*") || !strings.Contains(host, ".")
}

// mixed tells whether a word takes letters from Latin and ones that look like
// them from elsewhere, letters of full width among them.
func mixed(word string) bool {
	latin, other := false, false
	for _, r := range word {
		wide := 0xff21 <= r && r <= 0xff5a
		latin = latin || unicode.Is(unicode.Latin, r) && !wide
		other = other || wide || unicode.Is(unicode.Cyrillic, r) || strings.ContainsRune("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυχ", r)
	}
	return latin && other
}
