package canon

import (
	"encoding/hex"
	"net/netip"
	"net/url"
	"strings"
)

// Format is a form of strings that JSON Schema names (2020-12 validation,
// section 7.3). A string keeps the form it came in: rewriting it would change
// bytes that were approved.
type Format string

// The formats.
const (
	FormatDateTime Format = "date-time" // RFC 3339 section 5.6
	FormatDate     Format = "date"      // RFC 3339 section 5.6, full-date
	FormatTime     Format = "time"      // RFC 3339 section 5.6, full-time
	FormatDuration Format = "duration"  // RFC 3339 appendix A
	FormatUUID     Format = "uuid"      // RFC 9562 section 4, of any version
	FormatIPv4     Format = "ipv4"      // four decimals without leading zeros
	FormatIPv6     Format = "ipv6"      // RFC 4291 section 2.2, without a zone
	FormatURI      Format = "uri"       // RFC 3986, absolute
	FormatEmail    Format = "email"     // RFC 5321 section 4.1.2, a dot-string at a domain
)

// Formats lists them.
func Formats() []string {
	return []string{
		string(FormatDateTime), string(FormatDate), string(FormatTime), string(FormatDuration), string(FormatUUID),
		string(FormatIPv4), string(FormatIPv6), string(FormatURI), string(FormatEmail),
	}
}

// MaxLength is how many characters a string of the format has where a schema
// says nothing, and 0 for no format.
func (f Format) MaxLength() int {
	switch f {
	case FormatDate:
		return len("2006-01-02")
	case FormatDateTime, FormatTime, FormatDuration:
		return 64
	case FormatUUID:
		return 36
	case FormatIPv4:
		return len("255.255.255.255")
	case FormatIPv6:
		return 45
	case FormatURI:
		return 2048
	case FormatEmail:
		return 254
	}
	return 0
}

// Valid tells whether s has the format. Nothing has an unknown one.
func (f Format) Valid(s string) bool {
	switch f {
	case FormatDateTime:
		_, err := DateTime(s).Time()
		return err == nil
	case FormatDate:
		_, err := Date(s).Time()
		return err == nil
	case FormatTime:
		_, err := Time(s).Clock()
		return err == nil
	case FormatDuration:
		_, err := Duration(s).Parts()
		return err == nil
	case FormatUUID:
		_, err := UUID(s).Bytes()
		return err == nil
	case FormatIPv4:
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is4()
	case FormatIPv6:
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is6() && a.Zone() == ""
	case FormatURI:
		return validURI(s)
	case FormatEmail:
		return validEmail(s)
	}
	return false
}

// validURI is stricter than the standard library, which takes characters that
// RFC 3986 has to be escaped, escapes without their digits where a URI has no
// slashes, and brackets that are not around an address of a host. In a host
// only bytes beyond ASCII, and %, may be escaped.
func validURI(s string) bool {
	if !only(s, "-._~:/?#[]@!$&'()*+,;=%") || strings.Count(s, "#") > 1 {
		return false
	}
	for rest := s; ; {
		var escaped bool
		if _, rest, escaped = strings.Cut(rest, "%"); !escaped {
			break
		}
		if _, err := hex.DecodeString(rest[:min(2, len(rest))]); err != nil || len(rest) < 2 {
			return false
		}
	}
	u, err := url.Parse(s)
	if err != nil || !u.IsAbs() {
		return false
	}
	brackets := strings.Count(s, "[") + strings.Count(s, "]")
	if brackets == 0 {
		return !strings.Contains(u.Hostname(), ":")
	}
	return brackets == 2 && strings.HasPrefix(u.Host, "[") && FormatIPv6.Valid(u.Hostname())
}

// validEmail takes atoms joined by dots, an @ and a domain name.
func validEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || len(s) > 254 || len(local) > 64 {
		return false
	}
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" || !only(atom, "!#$%&'*+-/=?^_`{|}~") {
			return false
		}
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 || !only(label, "-") || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// only tells whether s is ASCII letters, digits and marks.
func only(s, marks string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(marks, c) >= 0) {
			return false
		}
	}
	return true
}

func (f Format) problem(s string) string {
	if f.Valid(s) {
		return ""
	}
	return "expected the format " + string(f) + ", got " + quoted(s)
}

// Format checks the string read last against a format.
func (r *Reader) Format(s string, f Format) {
	if r.err != nil {
		return
	}
	if problem := f.problem(s); problem != "" {
		r.failAt(CodePattern, r.start, problem)
	}
}

// Format checks the string written last against a format.
func (w *Writer) Format(s string, f Format) {
	if w.err != nil {
		return
	}
	if problem := f.problem(s); problem != "" {
		w.breach(CodePattern, problem)
	}
}
