package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// rehash gives a changed line the hash of what it says now.
func rehash(line string) string {
	cut := len(line) - hashBytes
	sum := sha256.Sum256([]byte(line[:cut]))
	return line[:cut] + hashBegins + hex.EncodeToString(sum[:]) + hashEnds
}

// Each way to change one record of a log, at each record, and the number that
// Verify names: without heads, and with a head of the last record.
func TestVerifyNamesTheFirstBadRecord(t *testing.T) {
	lines, s := written(t, 6) // records 1 to 7
	last := len(lines)
	alter := func(line string) string { return strings.Replace(line, `"event":"`, `"extra":0,"event":"`, 1) }
	for _, c := range []struct {
		name   string
		change func(lines []string, i int) []string
		// named is the record that is named for a change of record n; 0 is none.
		named, signed func(n int) int
	}{
		{"as it was", func(l []string, i int) []string { return l }, func(int) int { return 0 }, func(int) int { return 0 }},
		{"deleted", func(l []string, i int) []string { return slices.Delete(l, i, i+1) },
			func(n int) int { return n * boolInt(n < last) }, func(n int) int { return n }},
		{"altered", func(l []string, i int) []string { l[i] = alter(l[i]); return l },
			func(n int) int { return n }, func(n int) int { return n }},
		{"one byte of its hash", func(l []string, i int) []string {
			at := len(l[i]) - 4
			flipped := byte('0')
			if l[i][at] == '0' {
				flipped = '1'
			}
			l[i] = l[i][:at] + string(flipped) + l[i][at+1:]
			return l
		}, func(n int) int { return n }, func(n int) int { return n }},
		// Whoever can hash can hide which of two it was, but not that it was,
		// except at the end.
		{"altered and hashed", func(l []string, i int) []string { l[i] = rehash(alter(l[i])); return l },
			func(n int) int { return (n + 1) * boolInt(n < last) }, func(n int) int { return map[bool]int{true: n + 1, false: 1}[n < last] }},
		{"moved behind the next", func(l []string, i int) []string {
			if i+1 < len(l) {
				l[i], l[i+1] = l[i+1], l[i]
			}
			return l
		}, func(n int) int { return n * boolInt(n < last) }, func(n int) int { return n * boolInt(n < last) }},
		{"twice", func(l []string, i int) []string { return slices.Insert(l, i, l[i]) },
			func(n int) int { return n + 1 }, func(n int) int { return n + 1 }},
		{"cut off from it on", func(l []string, i int) []string { return l[:i] },
			func(n int) int { return boolInt(n == 1) }, func(n int) int { return n }},
		{"cut in the middle", func(l []string, i int) []string { l[i] = l[i][:len(l[i])/2]; return l[:i+1] },
			func(n int) int { return n }, func(n int) int { return n }},
		{"an empty line before it", func(l []string, i int) []string { l[i] = "\n" + l[i]; return l },
			func(n int) int { return n }, func(n int) int { return n }},
	} {
		for i := range lines {
			changed := strings.Join(c.change(slices.Clone(lines), i), "")
			for _, o := range []struct {
				options VerifyOptions
				want    int
			}{{VerifyOptions{}, c.named(i + 1)}, {s.with(), c.signed(i + 1)}} {
				got := 0
				_, err := verifyText(changed, o.options)
				var bad *BadRecord
				if errors.As(err, &bad) {
					got = int(bad.Seq)
				} else if err != nil {
					t.Errorf("%s, record %d: %v", c.name, i+1, err)
				}
				if got != o.want {
					t.Errorf("%s, record %d (heads %t): names record %d, want %d: %v", c.name, i+1, o.options.Heads != nil, got, o.want, err)
				}
			}
		}
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// What Verify says of a log in which nothing is wrong.
func TestReports(t *testing.T) {
	lines, s := written(t, 3)
	all := strings.Join(lines, "")
	other := newSigning(t, "example.com/other")
	_, foreign := written(t, 3)
	report := func(text string, o VerifyOptions) string {
		r, err := verifyText(text, o)
		if err != nil {
			return err.Error()
		}
		return strings.Replace(r.String(), r.Log, "ID", 1)
	}
	for _, c := range []struct{ name, got, want string }{
		{"without heads", report(all, VerifyOptions{}), "records 1 to 4 of log ID: consistent, not authenticated"},
		{"with a head", report(all, s.with()), "records 1 to 4 of log ID: authenticated"},
		{"with a key too many", report(all, s.with(other.verifier)), "records 1 to 4 of log ID: authenticated"},
		{"without its key", report(all, VerifyOptions{Heads: s.with().Heads, Keys: []string{other.verifier}}), "audit: no head is signed by one of the keys"},
		{"without a key", report(all, VerifyOptions{Heads: s.with().Heads}), "audit: no head is signed by one of the keys"},
		{"with no key", report(all, VerifyOptions{Heads: s.with().Heads, Keys: []string{"x"}}), "audit: verifier key: malformed verifier id"},
		{"with heads of another log", strings.Join(strings.Fields(report(all, foreign.with()))[:5], " "), "audit: the heads are of"},
		{"of no record", report("", VerifyOptions{}), "audit: record 1: there is no record"},
		{"from a later record", report(all, VerifyOptions{From: 2}), "audit: log:1: record 2: record 1 stands in its place, a second time"},
		{"something else", report("{}\n", VerifyOptions{}), "audit: log:1: record 1: it is not a record"},
		{"a long line", report(strings.Repeat("x", maxLine+1), VerifyOptions{}), "audit: log:1: record 1: it is longer than any record"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// What only somebody who hashes anew can make: hashes fit, and it is no log.
func TestVerifyRefusesWhatHashes(t *testing.T) {
	lines, s := written(t, 3)
	var first record
	first, err := readRecord([]byte(lines[0]))
	if err != nil {
		t.Fatal(err)
	}
	b := begin(2, time.Now(), eventOpen)
	b.text("log", "another")
	foreign, _ := b.end(first.own)
	b = begin(1, time.Now(), eventCall)
	closedEarly, _ := b.end(digest{})
	b = begin(1, time.Now(), eventOpen)
	b.text("log", "x")
	followed, _ := b.end(digest{1})
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"another log goes on":          {[]string{lines[0] + string(foreign)}, "audit: 0:2: record 2: it is of another log"},
		"a file begins in the middle":  {[]string{lines[0], strings.Join(lines[1:], "")}, "audit: 1:1: record 2: a file begins with it, and it does not say of which log"},
		"the first record opens none":  {[]string{string(closedEarly)}, "audit: 0:1: record 1: a file begins with it, and it does not say of which log"},
		"the first record follows one": {[]string{string(followed)}, "audit: 0:1: record 1: it does not follow record 0 as it stands here: one of the two was changed"},
	} {
		var sources []Source
		for i, text := range c.files {
			sources = append(sources, Source{strconv.Itoa(i), strings.NewReader(text)})
		}
		if _, err := Verify(sources, VerifyOptions{}); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}

	signer, err := note.NewSigner(s.signer)
	if err != nil {
		t.Fatal(err)
	}
	signed := func(h head) string {
		text, err := h.sign(signer)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	at := time.Now()
	for name, c := range map[string]struct {
		heads []head
		want  string
	}{
		"two logs":          {[]head{{first.log, 1, first.own, at}, {"another", 1, first.own, at}}, "audit: the heads are of two logs"},
		"two of one record": {[]head{{first.log, 1, first.own, at}, {first.log, 1, digest{1}, at}}, "audit: two heads differ about record 1: somebody with the signing key has rewritten the log"},
		"record 0":          {[]head{{first.log, 0, first.own, at}}, ErrNotSigned.Error()},
		"no log":            {[]head{{"", 1, first.own, at}}, ErrNotSigned.Error()},
		"another record before the first": {[]head{{first.log, 1, digest{1}, at}},
			"audit: log:1: record 2: it does not follow what was signed"},
	} {
		var text string
		for _, h := range c.heads {
			text += signed(h)
		}
		o := VerifyOptions{Heads: strings.NewReader(text), Keys: []string{s.verifier}}
		from := 0
		if strings.Contains(c.want, "record 2") {
			o.From, from = 2, 1
		}
		// A file that begins with record 2 opens the log again.
		b := begin(2, at, eventOpen)
		b.text("log", first.log)
		second, _ := b.end(first.own)
		if _, err := verifyText([]string{lines[0], string(second)}[from], o); err == nil || err.Error() != c.want {
			t.Errorf("heads of %s: %v, want %s", name, err, c.want)
		}
	}
}

// One text of heads with much beside them.
func TestHeadsAreFoundAmongOtherText(t *testing.T) {
	lines, s := written(t, 3)
	signed := s.heads.String()
	all := strings.Join(lines, "")
	for name, c := range map[string]struct {
		heads      string
		unreadable int
	}{
		"torn before it":    {signed[:len(signed)/2] + signed, 1},
		"torn behind it":    {signed + signed[:40], 1},
		"blank lines":       {"\n\n" + signed + "\n\n", 0},
		"twice":             {signed + signed, 0},
		"another signature": {signed + strings.Replace(signed, "— example.com/audit ", "— example.com/audit A", 1), 1},
	} {
		r, err := verifyText(all, VerifyOptions{Heads: strings.NewReader(c.heads), Keys: []string{s.verifier}})
		if err != nil || r.Signed != 4 || r.Unreadable != c.unreadable {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// Whatever is in the files, Verify ends, and what it accepts is a chain.
func FuzzVerify(f *testing.F) {
	lines, s := written(f, 3)
	all := strings.Join(lines, "")
	f.Add([]byte(all), s.heads.Bytes())
	f.Add([]byte(strings.Join(lines[:2], "")), []byte(headBegins+"\n"+headBegins+"\n"))
	f.Add([]byte(lines[0]+lines[0]), []byte{})
	f.Fuzz(func(t *testing.T, log, heads []byte) {
		o := VerifyOptions{}
		if len(heads) > 0 {
			o.Heads, o.Keys = strings.NewReader(string(heads)), []string{s.verifier}
		}
		r, err := verifyText(string(log), o)
		if err != nil {
			return
		}
		if n := strings.Count(string(log), "\n"); r.First != 1 || r.Last != uint64(n) || r.Signed > r.Last {
			t.Errorf("%d lines: %+v", n, r)
		}
	})
}
