package approve

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestParseTrustRoot(t *testing.T) {
	root := trust(t, trustText())
	got := fmt.Sprint(root.Approvers())
	want := fmt.Sprint([]Approver{{ada, "ada", keyOf(ada).KeyID()}, {bob, "bob", keyOf(bob).KeyID()}, {ada, "ada", keyOf(9).KeyID()}})
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := trust(t, keyOf(ada).line(ada, "ada")+" revoked\n").Approvers(); got != nil {
		t.Errorf("a revoked key is of %v", got)
	}
}

// The trust root that the reference shows is one.
func TestDocumentedTrustRoot(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/approvals.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```text\n")
	text, _, ended := strings.Cut(text, "```")
	if root := trust(t, text); !ended || len(root.Approvers()) != 2 || len(root.keys) != 3 {
		t.Errorf("%q has %v", text, root.Approvers())
	}
}

func TestParseTrustRootRefuses(t *testing.T) {
	line := keyOf(ada).line(ada, "ada")
	key := strings.Fields(line)[1]
	many := ""
	for i := range MaxTrustKeys + 1 {
		many += keyOf(uint32(i)).line(uint32(i), fmt.Sprint("n", i)) + "\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"cut off":         {line + "\n" + line[:len(line)-1], "line 2 does not end"},
		"carriage return": {line + "\r\n", "line 1: expected name="},
		"indented":        {" " + line + "\n", "line 1: expected: ed25519"},
		"two spaces":      {strings.Replace(line, " ", "  ", 1) + "\n", "line 1: expected: ed25519"},
		"tab":             {strings.Replace(line, " ", "\t", 1) + "\n", "line 1: expected: ed25519"},
		"space behind":    {line + " \n", "line 1: expected: ed25519"},
		"other type":      {"#\nssh-" + line + "\n", "line 2: expected: ed25519"},
		"other word":      {line + " expired\n", "line 1: expected: ed25519"},
		"revoked twice":   {line + " revoked revoked\n", "line 1: expected: ed25519"},
		"revoked first":   {"revoked " + line + "\n", "line 1: expected: ed25519"},
		"unpadded":        {strings.Replace(line, "=", "", 1) + "\n", "base64"},
		"padding bits":    {strings.Replace(line, key, key[:42]+string(key[42]+1)+"=", 1) + "\n", "base64"},
		"short key":       {strings.Replace(line, key, "AAAA", 1) + "\n", "32 bytes"},
		"zero":            {strings.Replace(line, key, base64.StdEncoding.EncodeToString(make([]byte, 32)), 1) + "\n", "without a secret"},
		"no uid":          {strings.Replace(line, "uid=2001", "gid=2001", 1) + "\n", "expected uid="},
		"signed uid":      {strings.Replace(line, "uid=2001", "uid=+2001", 1) + "\n", "expected uid="},
		"zeros":           {strings.Replace(line, "uid=2001", "uid=02001", 1) + "\n", "expected uid="},
		"no account":      {strings.Replace(line, "uid=2001", "uid=4294967295", 1) + "\n", "expected uid="},
		"beyond":          {strings.Replace(line, "uid=2001", "uid=4294969297", 1) + "\n", "expected uid="},
		"no name":         {strings.Replace(line, "name=ada", "name=", 1) + "\n", "expected name="},
		"escape":          {strings.Replace(line, "name=ada", "name=\x1b[2J", 1) + "\n", "expected name="},
		"not ASCII":       {strings.Replace(line, "name=ada", "name=ädä", 1) + "\n", "expected name="},
		"long name":       {strings.Replace(line, "name=ada", "name="+strings.Repeat("a", 65), 1) + "\n", "expected name="},
		"twice":           {line + "\n" + line + "\n", "line 2: the key stands there already"},
		"twice, revoked":  {line + " revoked\n" + line + "\n", "line 2: the key stands there already"},
		"two names":       {line + "\n" + keyOf(9).line(ada, "eve") + "\n", "line 2: a name belongs"},
		"two accounts":    {line + "\n" + keyOf(9).line(9, "ada") + "\n", "line 2: a name belongs"},
		"many":            {many, "line 257: more than 256 keys"},
		"long line":       {line + strings.Repeat(" x", 500) + "\n", "more than 512 bytes"},
		"long":            {strings.Repeat("#\n", MaxTrustBytes), "more than 65536 bytes"},
	} {
		if _, err := ParseTrustRoot([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// The points of the list have small order: for one message of eight, or more, a
// signature that takes no secret, R the neutral element and S zero, verifies.
func TestWeakKeysHaveForgeries(t *testing.T) {
	forged := make([]byte, ed25519.SignatureSize)
	forged[0] = 1
	for _, y := range smallOrder {
		found := false
		for _, sign := range []byte{0, 0x80} {
			public := bytes.Clone(y[:])
			public[31] |= sign
			if !weak(public) {
				t.Errorf("%x is not refused", public)
			}
			for i := range 400 {
				found = found || ed25519.Verify(public, fmt.Append(nil, i), forged)
			}
		}
		if !found {
			t.Errorf("%x: no forgery: it does not belong into the list", y)
		}
	}
	for i := range 400 {
		if public := keyOf(uint32(i)).private.Public().(ed25519.PublicKey); weak(public) {
			t.Errorf("%x is refused", public)
		}
	}
}

func FuzzParseTrustRoot(f *testing.F) {
	f.Add([]byte(trustText()))
	f.Add([]byte(keyOf(ada).line(ada, "ada") + " revoked\n"))
	f.Add([]byte("# \n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		root, err := ParseTrustRoot(text)
		if err != nil {
			return
		}
		// What was understood, written again, is the same lines.
		var again strings.Builder
		for _, k := range root.keys {
			again.WriteString(FormatKey(k.public, k.UID, k.Name))
			if k.revoked {
				again.WriteString(" revoked")
			}
			again.WriteString("\n")
		}
		var lines strings.Builder
		for line := range strings.Lines(string(text)) {
			if line != "\n" && line[0] != '#' {
				lines.WriteString(line)
			}
		}
		if again.String() != lines.String() {
			t.Fatalf("%q is understood as %q", text, again.String())
		}
	})
}
