package tree

import (
	"crypto/sha256"
	"encoding/base64"
	"math"
	"strings"
	"testing"
)

func TestCursor(t *testing.T) {
	for _, p := range []position{
		{},
		{After: "a/b"},
		{After: "a" + doneSuffix},
		{After: "\xff/x", File: "y", Line: 7},
		{Index: 99, Offset: math.MaxInt64, Line: 3, Size: 1 << 40, Modified: -5},
	} {
		text := p.cursor("request")
		got, err := parseCursor(text, "request")
		if err != nil || got != p {
			t.Errorf("%+v comes back as %+v, %v", p, got, err)
		}
		if _, err := parseCursor(text, "other"); err == nil || !strings.Contains(err.Error(), "other arguments") {
			t.Errorf("a cursor of another request: %v", err)
		}
	}
}

func TestHostileCursors(t *testing.T) {
	good := position{After: "a", Index: 1}.cursor("r")
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	hostile := []string{
		"a", "!", " ", good + "=", good + "A", good[:len(good)-1], " " + good, good + "\n", good[:4] + "\n" + good[4:],
		strings.Repeat("A", MaxCursorBytes+4), base64.StdEncoding.EncodeToString(raw) + "==",
		position{After: "a\x00b"}.cursor("r"), position{After: "a/\x00/\x00"}.cursor("r"), position{File: "\x00"}.cursor("r"),
		position{Index: -1}.cursor("r"), position{Offset: -1}.cursor("r"), position{Line: -1}.cursor("r"), position{Size: -1}.cursor("r"),
	}
	for i := range raw {
		flipped := append([]byte(nil), raw...)
		flipped[i] ^= 1
		hostile = append(hostile, base64.RawURLEncoding.EncodeToString(flipped))
	}
	for i := range raw {
		hostile = append(hostile, base64.RawURLEncoding.EncodeToString(raw[:i]))
	}
	// The same numbers in more bytes than they need.
	payload := append(appendString(appendString(nil, "a"), ""), 0x82, 0x00, 0, 0, 0, 0)
	belongs, check := sha256.Sum256([]byte("r")), sha256.Sum256(payload)
	long := append(append(belongs[:8:8], check[:4]...), payload...)
	hostile = append(hostile, base64.RawURLEncoding.EncodeToString(long))
	for _, text := range hostile {
		if p, err := parseCursor(text, "r"); text != "" && err == nil {
			t.Errorf("cursor %q is accepted as %+v", text, p)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(position{After: "a/b", Line: 3}.cursor("r"))
	f.Add("AAAA")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseCursor(text, "r")
		if err == nil && text != "" && p.cursor("r") != text {
			t.Fatalf("%q is read as %+v, which is written %q", text, p, p.cursor("r"))
		}
	})
}
