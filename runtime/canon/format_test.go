package canon_test

import (
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/capgen/capgen/runtime/canon"
)

// forms are strings that have a format, and those that look as if they had.
func forms() map[canon.Format]struct{ good, bad []string } {
	return map[canon.Format]struct{ good, bad []string }{
		canon.FormatDate: {
			[]string{"2026-11-29", "2024-02-29", "0001-01-01"},
			[]string{"", "2026-02-30", "2025-02-29", "2026-1-01", "26-01-01", "2026-01-01T", "2026/01/01", " 2026-01-01", "2026-13-01", "２026-01-01"},
		},
		canon.FormatTime: {
			[]string{"00:00:00Z", "23:59:60Z", "23:59:59.123456789012z", "01:29:60+01:30", "12:00:00-23:59"},
			[]string{"", "00:00Z", "24:00:00Z", "00:60:00Z", "00:00:61Z", "12:00:60Z", "12:00:00", "12:00:00.Z", "12:00:00+1:00", "12:00:00+24:00", "12:00:00+00:60", "12:00:00Zx", "1+:00:00Z"},
		},
		canon.FormatDateTime: {
			[]string{"2026-11-29T18:00:00Z", "2026-11-29t18:00:00.5+01:00", "1998-12-31T23:59:60Z", "2026-11-29T00:00:00-00:00"},
			[]string{"", "2026-11-29", "2026-11-29 18:00:00Z", "2026-11-29T18:00:00", "2026-02-30T18:00:00Z", "2026-11-29T25:00:00Z"},
		},
		canon.FormatDuration: {
			[]string{"P1Y", "P1Y2M3DT4H5M6S", "PT0S", "P7W", "P1D", "PT36H"},
			[]string{"", "P", "PT", "P1", "1Y", "P1YT", "P1H", "PT1D", "P1M1Y", "P1Y1Y", "P-1Y", "P1.5D", "P1Y2W", "PW", "P1W1D", "p1d"},
		},
		canon.FormatUUID: {
			[]string{"2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380", "00000000-0000-0000-0000-000000000000"},
			[]string{"", "2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08-aa98-11ea-b4aa-73b441d16380 ", "2eb8aa0g-aa98-11ea-b4aa-73b441d16380", "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380"},
		},
		canon.FormatIPv4: {[]string{"0.0.0.0", "255.255.255.255"}, []string{"", "1.2.3", "256.0.0.0", "01.2.3.4", "1.2.3.4.5", "::1"}},
		canon.FormatIPv6: {[]string{"::", "2001:db8::1", "::ffff:1.2.3.4"}, []string{"", "1.2.3.4", ":::", "fe80::1%eth0", "12345::", "[::1]"}},
		canon.FormatURI:  {[]string{"https://example.com/a?b#c", "urn:a:b", "mailto:a@b", "http://u@[::1]:80/%20", "urn:a:%7e"}, []string{"", "/a", "example.com", "http://a b", "http://a/%zz", "http://[::1", ":a", "http://9::1]:80/", "http://[1.2.3.4]/"}},
		canon.FormatEmail: {
			[]string{"a@b", "a.b+c@example.com"},
			[]string{"", "a", "a@", ".a@b", "a..b@c", "a b@c", "a@-b", "a@b..c", "a@b@c"},
		},
	}
}

// Another implementation of the formats judges the same.
func TestFormats(t *testing.T) {
	all := forms()
	for _, name := range canon.Formats() {
		f := canon.Format(name)
		list, ok := all[f]
		if !ok || f.MaxLength() == 0 {
			t.Errorf("%s is not tested, or has no cap", name)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("mem:x", map[string]any{"format": name}); err != nil {
			t.Fatal(err)
		}
		oracle := c.MustCompile("mem:x")
		for want, texts := range map[bool][]string{true: list.good, false: list.bad} {
			for _, s := range texts {
				if got := f.Valid(s); got != want {
					t.Errorf("%s %q: %v, want %v", f, s, got, want)
				}
				if got := oracle.Validate(s) == nil; got != want {
					t.Errorf("%s %q: the oracle says %v", f, s, got)
				}
			}
		}
	}
	if canon.FormatEmail.Valid("@b") { // which the oracle takes
		t.Error("an address without a local part is valid")
	}
	// So does it these, which RFC 3986 does not.
	for _, s := range []string{"http://a/[", "ftp:5/%~2", "urn:%2", "urn:%", "urn:a#b#c"} {
		if canon.FormatURI.Valid(s) {
			t.Errorf("the URI %q is valid", s)
		}
	}
	if canon.Format("nope").Valid("") || canon.Format("nope").MaxLength() != 0 {
		t.Error("an unknown format is valid")
	}
}

func TestMoments(t *testing.T) {
	at, err := canon.DateTime("2026-11-29t18:00:00.5000000019+01:30").Time()
	if want := time.Date(2026, 11, 29, 16, 30, 0, 500000001, time.UTC); err != nil || !at.Equal(want) {
		t.Errorf("got %v, %v, want %v", at, err, want)
	}
	if leap, err := canon.DateTime("1998-12-31T23:59:60Z").Time(); err != nil || !leap.Equal(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("a leap second is %v, %v", leap, err)
	}
	if got := canon.NewDateTime(at); got != "2026-11-29T18:00:00.500000001+01:30" {
		t.Error(got)
	}
	if got := canon.NewDate(at); got != "2026-11-29" {
		t.Error(got)
	}
	if c, err := canon.Time("23:59:58.25-07:30").Clock(); err != nil || c != (canon.Clock{23, 59, 58, 250000000, -27000}) {
		t.Error(c, err)
	}
	if p, err := canon.Duration("P1Y2M3DT4H5M6S").Parts(); err != nil || p != (canon.Parts{Years: 1, Months: 2, Days: 3, Hours: 4, Minutes: 5, Seconds: 6}) {
		t.Error(p, err)
	}
	for text, want := range map[canon.Duration]time.Duration{"P1W": 168 * time.Hour, "P1DT1M1S": 24*time.Hour + 61*time.Second, "PT9223372036S": 9223372036 * time.Second} {
		if d, err := text.Exact(); err != nil || d != want {
			t.Errorf("%s is %v, %v", text, d, err)
		}
	}
	for _, text := range []canon.Duration{"P1Y", "P1M", "PT9223372037S", "P1DT9223372036S", "P9223372036854775807W", "x", "P99999999999999999999D"} {
		if d, err := text.Exact(); err == nil {
			t.Errorf("%s is %v", text, d)
		}
	}
	b, err := canon.UUID("2EB8AA08-aa98-11ea-b4aa-73b441d16380").Bytes()
	if err != nil || canon.NewUUID(b) != "2eb8aa08-aa98-11ea-b4aa-73b441d16380" {
		t.Error(b, err)
	}
}

// FuzzFormats: no text makes an accessor panic, and what a constructor writes
// is valid and means the same.
func FuzzFormats(f *testing.F) {
	for _, list := range forms() {
		for _, s := range append(list.good, list.bad...) {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range canon.Formats() {
			canon.Format(name).Valid(s)
		}
		if at, err := canon.DateTime(s).Time(); err == nil && at.Year() < 10000 && at.Year() > 0 {
			if again, err := canon.NewDateTime(at).Time(); err != nil || !again.Equal(at) {
				t.Errorf("%q: %v, then %v, %v", s, at, again, err)
			}
		}
		_, _ = canon.Duration(s).Exact()
	})
}
