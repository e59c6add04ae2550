package audit

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// step is a record about a governed effect that is like any other.
func step() Governed {
	return Governed{
		Event: "plan.prepared", Actor: Actor{Kind: ByCLI, UID: 0, User: "root", PID: 9, Session: "s", Client: "c"}, Subject: "local",
		Plan: "plan_1", Capability: "files.publish", Arguments: []byte(`{"path":"secret"}`), Details: []byte("{\n\"b\": 1, \"a\": \"\\u2028\"}"),
	}
}

// chained are n records behind the one that opens a chain, and signed heads of
// the chain after the records that are named.
func chained(t *testing.T, s *signing, n int, heads ...uint64) (log string, lines [][]byte) {
	t.Helper()
	signer, err := note.NewSigner(s.signer)
	if err != nil {
		t.Fatal(err)
	}
	key := options("").Key
	at := time.UnixMicro(1_800_000_000_000_000)
	line, chain := NewChain().Open(at, key)
	lines = append(lines, line)
	for range n {
		if line, chain, err = chain.Seal(at, key, step()); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
		if slices.Contains(heads, chain.Seq) {
			signed, err := chain.Head(at, signer)
			if err != nil {
				t.Fatal(err)
			}
			s.heads.Write(signed)
		}
	}
	return chain.Log, lines
}

func each(lines [][]byte, end error) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, line := range lines {
			if !yield(line, nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

func TestChain(t *testing.T) {
	s := newSigning(t, "example.com/audit")
	log, lines := chained(t, s, 5, 3, 6)
	verify := func(log string, lines [][]byte, from uint64) (Report, error) {
		return VerifyLines(log, each(lines, nil), VerifyOptions{Heads: bytes.NewReader(s.heads.Bytes()), Keys: []string{s.verifier}, From: from})
	}
	if r, err := verify(log, lines, 0); err != nil || r.Last != 6 || r.Signed != 6 || r.Log != log {
		t.Fatalf("%+v, %v", r, err)
	}
	// The lines are those of a file: whoever exports them has a log.
	if _, err := Verify([]Source{{Name: "exported", Reader: bytes.NewReader(bytes.Join(lines, nil))}}, VerifyOptions{}); err != nil {
		t.Errorf("as a file: %v", err)
	}
	if r, err := verify(log, lines[3:], 4); err != nil || r.First != 4 || r.Signed != 6 {
		t.Errorf("without its beginning: %+v, %v", r, err)
	}
	want := `"what":"plan.prepared","actor":"cli","uid":0,"user":"root","pid":9,"session":"s","client":"c","subject":"local",` +
		`"plan":"plan_1","capability":"files.publish","fingerprint":"k1:`
	if line := string(lines[1]); !strings.Contains(line, want) || !strings.Contains(line, `"details":{"a":"`+"\u2028"+`","b":1}`) || strings.Contains(line, "secret") {
		t.Errorf("the record is %s", line)
	}
	for name, c := range map[string]struct {
		lines [][]byte
		from  uint64
		seq   uint64
	}{
		"a record is missing":            {slices.Delete(slices.Clone(lines), 2, 3), 0, 3},
		"two have changed places":        {[][]byte{lines[0], lines[2], lines[1], lines[3], lines[4], lines[5]}, 0, 2},
		"the end is missing":             {lines[:5], 0, 6},
		"all are missing":                {nil, 0, 1},
		"it does not begin with opening": {lines[1:], 0, 1},
		"a byte is another":              {append(slices.Clone(lines[:4]), bytes.Replace(lines[4], []byte("root"), []byte("toor"), 1), lines[5]), 0, 5},
		"a line without its end":         {append(slices.Clone(lines[:5]), bytes.TrimSuffix(lines[5], []byte("\n"))), 0, 6},
		"two in a line":                  {append(slices.Clone(lines[:4]), slices.Concat(lines[4], lines[5])), 0, 5},
		"a long line":                    {append(slices.Clone(lines[:5]), make([]byte, maxLine+1)), 0, 6},
	} {
		var bad *BadRecord
		if _, err := verify(log, c.lines, c.from); !errors.As(err, &bad) || bad.Seq != c.seq {
			t.Errorf("%s: error %v, want one about record %d", name, err, c.seq)
		}
	}
	other, others := chained(t, newSigning(t, "example.com/other"), 5)
	if _, err := verify(log, others, 0); err == nil {
		t.Error("the records of another chain are taken for these")
	}
	if _, err := verify(other, others, 0); err == nil {
		t.Error("heads of another chain vouch for these")
	}
	ours := errors.New("ours")
	if _, err := VerifyLines(log, each(lines, ours), VerifyOptions{}); err != ours {
		t.Errorf("an error among the lines: %v", err)
	}
}

func TestGovernedRefused(t *testing.T) {
	for name, change := range map[string]func(*Governed){
		"no event":         func(g *Governed) { g.Event = "" },
		"upper case":       func(g *Governed) { g.Event = "Plan" },
		"too many words":   func(g *Governed) { g.Event = "a.b.c.d.e" },
		"no actor":         func(g *Governed) { g.Actor.Kind = "" },
		"another actor":    func(g *Governed) { g.Actor.Kind = "agent" },
		"no object":        func(g *Governed) { g.Details = []byte("[1]") },
		"no JSON":          func(g *Governed) { g.Details = []byte(`{"a":1}` + "\n{") },
		"empty details":    func(g *Governed) { g.Details = []byte{} },
		"a member twice":   func(g *Governed) { g.Details = []byte(`{"a":1,"a":2}`) },
		"too many details": func(g *Governed) { g.Details = []byte(`{"a":"` + strings.Repeat("x", MaxDetails) + `"}`) },
	} {
		g := step()
		change(&g)
		before := NewChain()
		if line, next, err := before.Seal(time.Now(), options("").Key, g); err == nil || line != nil || next != before {
			t.Errorf("%s: %q, %v", name, line, err)
		}
	}
}
