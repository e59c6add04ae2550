package canon_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
)

// rfcExamples are texts that the RFCs themselves give.
func rfcExamples() map[canon.Format]struct{ good, bad []string } {
	return map[canon.Format]struct{ good, bad []string }{
		// RFC 3339 section 5.8, and a day, a time and a leap second of section 5.6.
		canon.FormatDateTime: {
			[]string{"1985-04-12T23:20:50.52Z", "1996-12-19T16:39:57-08:00", "1990-12-31T23:59:60Z", "1990-12-31T15:59:60-08:00", "1937-01-01T12:00:27.87+00:20"},
			[]string{"1985-04-12T23:20:50.52", "1985-04-12 23:20:50.52Z", "1990-12-31T15:59:60Z"},
		},
		canon.FormatDate: {[]string{"1985-04-12", "2000-02-29"}, []string{"1900-02-29", "1985-W15-5", "1985-102", "19850412"}},
		canon.FormatTime: {[]string{"23:20:50.52Z", "16:39:57-08:00", "12:00:27.87+00:20"}, []string{"23:20:50.52", "23:20Z", "T23:20:50Z", "24:00:00Z"}},
		// RFC 3339 appendix A: units follow each other without a gap.
		canon.FormatDuration: {
			[]string{"P3Y6M4DT12H30M5S", "P23DT23H", "P4Y", "PT0S", "P0D", "P1M", "PT1M", "PT36H", "P1DT12H", "P2W", "P1Y2M", "PT1H2M3S", "PT5M6S"},
			[]string{"PT1D", "P4W1D", "P1Y2D", "PT1H2S", "P", "P1YT", "P2D1Y", "P2D1Y3M", "P1Y1W", "P1M1Y", "PT", "P1.5Y", "P-1D", "-P1D", "P1H"},
		},
		// RFC 9562 sections 4, 5.9, 5.10 and appendices A and B.
		canon.FormatUUID: {
			[]string{"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "919108f7-52d1-4320-9bac-f847db4148a8", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "5c146b14-3c52-8afd-938a-375d0df1fbf6"},
			[]string{"urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}", "f81d4fae7dec11d0a76500a0c91e6bf6"},
		},
		// RFC 5737, and what inet_aton takes but no dotted quad is.
		canon.FormatIPv4: {[]string{"192.0.2.0", "198.51.100.255", "203.0.113.7"}, []string{"192.0.2", "0xC0.0.2.1", "0300.0.2.1", "3221225985", "192.0.2.1/24", "192.0.2.1:80"}},
		// RFC 4291 sections 2.2 and 2.3.
		canon.FormatIPv6: {
			[]string{"ABCD:EF01:2345:6789:ABCD:EF01:2345:6789", "2001:DB8:0:0:8:800:200C:417A", "2001:DB8::8:800:200C:417A", "FF01::101", "::1", "::", "0:0:0:0:0:0:13.1.68.3", "0:0:0:0:0:FFFF:129.144.52.38", "::13.1.68.3", "::FFFF:129.144.52.38", "2001:0DB8:0000:CD30:0000:0000:0000:0000"},
			[]string{"2001:0DB8::CD30:0:0:0:0/60", "2001:0DB8:0:CD3/60", "2001::DB8::1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1%eth0", "::129.144.52"},
		},
		// RFC 3986 sections 1.1.2 and 5.4: what is relative is no URI.
		canon.FormatURI: {
			[]string{"ftp://ftp.is.co.za/rfc/rfc1808.txt", "http://www.ietf.org/rfc/rfc2396.txt", "ldap://[2001:db8::7]/c=GB?objectClass?one", "mailto:John.Doe@example.com", "news:comp.infosystems.www.servers.unix", "tel:+1-816-555-1212", "telnet://192.0.2.16:80/", "urn:oasis:names:specification:docbook:dtd:xml:4.1.2", "g:h", "http://a/b/c/d;p?q"},
			[]string{"g", "./g", "g/", "/g", "//g", "?y", "g?y", "#s", "", "..", "1http://a/", "http://a/%4", "http://a/<b>", "http://exämple.com/"},
		},
		// RFC 5321 section 4.1.2 and appendix D.
		canon.FormatEmail: {
			[]string{"Smith@bar.com", "jones@foo.com", "user.name+tag@example.co.uk", "o'brien@example.com", "x@a-b.example"},
			[]string{"Smith@", "@bar.com", "Smith", "<Smith@bar.com>", "Smith@bar..com", "Smith.@bar.com", "Smith@-bar.com", "Smith@bar_.com", "Joe Q. Public <john.q.public@example.com>"},
		},
	}
}

const (
	octet  = `(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	ipv4   = octet + `(?:\.` + octet + `){3}`
	h16    = `[0-9A-Fa-f]{1,4}`
	ls32   = `(?:` + h16 + `:` + h16 + `|` + ipv4 + `)`
	pct    = `%[0-9A-Fa-f]{2}`
	unres  = `[A-Za-z0-9._~!$&'()*+,;=-]` // unreserved and sub-delims
	pchar  = `(?:` + unres + `|[:@]|` + pct + `)`
	atext  = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
	label  = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`
	hex    = `[0-9A-Fa-f]`
	date   = `([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])`
	clock  = `([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))`
	second = `[0-9]+S`
	minute = `[0-9]+M(?:` + second + `)?`
	hour   = `[0-9]+H(?:` + minute + `)?`
	timed  = `T(?:` + hour + `|` + minute + `|` + second + `)`
	day    = `[0-9]+D`
	month  = `[0-9]+M(?:` + day + `)?`
	year   = `[0-9]+Y(?:` + month + `)?`
)

// ipv6 is the production IPv6address of RFC 3986.
var ipv6 = `(?:` + strings.Join([]string{
	`(?:` + h16 + `:){6}` + ls32,
	`::(?:` + h16 + `:){5}` + ls32,
	`(?:` + h16 + `)?::(?:` + h16 + `:){4}` + ls32,
	`(?:(?:` + h16 + `:){0,1}` + h16 + `)?::(?:` + h16 + `:){3}` + ls32,
	`(?:(?:` + h16 + `:){0,2}` + h16 + `)?::(?:` + h16 + `:){2}` + ls32,
	`(?:(?:` + h16 + `:){0,3}` + h16 + `)?::` + h16 + `:` + ls32,
	`(?:(?:` + h16 + `:){0,4}` + h16 + `)?::` + ls32,
	`(?:(?:` + h16 + `:){0,5}` + h16 + `)?::` + h16,
	`(?:(?:` + h16 + `:){0,6}` + h16 + `)?::`,
}, `|`) + `)`

// grammars are the productions that Format names, as regular expressions: of a
// URI without IPvFuture and without escapes of ASCII in its host, and of an address without quoted strings and literals.
var grammars = map[canon.Format]*regexp.Regexp{
	canon.FormatDate:     regexp.MustCompile(`^` + date + `$`),
	canon.FormatTime:     regexp.MustCompile(`^` + clock + `$`),
	canon.FormatDateTime: regexp.MustCompile(`^` + date + `[Tt]` + clock + `$`),
	canon.FormatDuration: regexp.MustCompile(`^P(?:(?:` + day + `|` + month + `|` + year + `)(?:` + timed + `)?|` + timed + `|[0-9]+W)$`),
	canon.FormatUUID:     regexp.MustCompile(`^` + hex + `{8}(?:-` + hex + `{4}){3}-` + hex + `{12}$`),
	canon.FormatIPv4:     regexp.MustCompile(`^` + ipv4 + `$`),
	canon.FormatIPv6:     regexp.MustCompile(`^` + ipv6 + `$`),
	canon.FormatURI: regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:(?://(?:(?:` + unres + `|:|` + pct + `)*@)?(?:\[` + ipv6 + `\]|(?:` + unres + `|%25|%[89A-Fa-f]` + hex + `)*)(?::[0-9]*)?(?:/` + pchar + `*)*` +
		`|/(?:` + pchar + `+(?:/` + pchar + `*)*)?|` + pchar + `+(?:/` + pchar + `*)*|)(?:\?(?:` + pchar + `|[/?])*)?(?:#(?:` + pchar + `|[/?])*)?$`),
	canon.FormatEmail: regexp.MustCompile(`^` + atext + `(?:\.` + atext + `)*@` + label + `(?:\.` + label + `)*$`),
}

// grammatical tells whether s has the format by its grammar and what the RFC
// says beside it: how long months are, and when a second may be the 60th.
func grammatical(f canon.Format, s string) bool {
	m := grammars[f].FindStringSubmatch(s)
	if m == nil {
		return false
	}
	number := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
	switch f {
	case canon.FormatDateTime:
		return grammatical(canon.FormatDate, s[:10]) && grammatical(canon.FormatTime, s[11:])
	case canon.FormatDate:
		days := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[number(2)-1]
		if y := number(1); number(2) == 2 && y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			days = 29
		}
		return number(3) <= days
	case canon.FormatTime:
		offset := number(5)*60 + number(6)
		if m[4] == "-" {
			offset = -offset
		}
		return m[3] != "60" || ((number(1)*60+number(2)-offset)%1440+1440)%1440 == 1439
	case canon.FormatEmail:
		return len(s) <= 254 && strings.IndexByte(s, '@') <= 64
	}
	return true
}

// Each format is what its RFC says: on the RFC's own examples, and on every
// text that differs from one by a character.
func TestFormatsAreTheirGrammars(t *testing.T) {
	const alphabet = "0159aAfFgTtWwZzYMDHSP:-+./@[]#%?!\\\" \n_\x00é０"
	texts := 0
	for f, list := range rfcExamples() {
		for want, texts := range map[bool][]string{true: list.good, false: list.bad} {
			for _, s := range texts {
				if got := f.Valid(s); got != want {
					t.Errorf("%s %q: %v, want %v", f, s, got, want)
				}
			}
		}
		valid := 0
		near := func(s string) {
			texts++
			got := f.Valid(s)
			if got {
				valid++
			}
			if want := grammatical(f, s); got != want {
				t.Errorf("%s %q: %v, the grammar says %v", f, s, got, want)
			}
		}
		for _, s := range append(list.good, list.bad...) {
			near(s)
			for i := 0; i <= len(s); i++ {
				for _, c := range alphabet {
					near(s[:i] + string(c) + s[i:])
					if i < len(s) {
						near(s[:i] + string(c) + s[i+1:])
					}
				}
				if i < len(s) {
					near(s[:i] + s[i+1:])
				}
				if i+1 < len(s) {
					near(s[:i] + s[i+1:i+2] + s[i:i+1] + s[i+2:])
				}
			}
		}
		if valid == 0 {
			t.Errorf("%s: nothing near an example is valid", f)
		}
	}
	t.Logf("%d texts", texts)
}
