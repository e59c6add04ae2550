package token

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

var noon = Instant{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Boot: "b1", Up: time.Hour}

func ring(t testing.TB, ids ...string) *Ring {
	t.Helper()
	var keys []Key
	for _, id := range ids {
		keys = append(keys, Key{id, bytes.Repeat([]byte(id), MinSecretBytes)})
	}
	r, err := NewRing(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var claims = Claims{Kind: "change", Object: "plan_1", Hash: [32]byte{1, 2}, Store: "s1"}

func issue(t testing.TB, r *Ring) string {
	t.Helper()
	text, err := r.Issue(claims, noon, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestVerify(t *testing.T) {
	r := ring(t, "k1")
	text := issue(t, r)
	c, err := r.Verify(text, "change", "s1", noon)
	if err != nil || c.Object != "plan_1" || c.Hash != claims.Hash || c.Nonce == [16]byte{} || !c.Issued.Wall.Equal(noon.Wall) || c.Expires != noon.Later(time.Minute) {
		t.Fatalf("%+v, %v", c, err)
	}
	if again, err := r.Verify(issue(t, r), "change", "s1", noon); err != nil || again.Nonce == c.Nonce {
		t.Errorf("two tokens have one nonce: %v", err)
	}
	for name, check := range map[string]struct {
		ring        *Ring
		kind, store string
		want        error
	}{
		"another use":             {r, "run", "s1", ErrInvalid},
		"another store":           {r, "change", "s2", ErrInvalid},
		"a key that was removed":  {ring(t, "k2"), "change", "s1", ErrKeyUnknown},
		"a key that was replaced": {ring(t, "k2", "k1"), "change", "s1", nil},
		"another secret":          {&Ring{[]Key{{"k1", bytes.Repeat([]byte("x"), 32)}}}, "change", "s1", ErrInvalid},
	} {
		if _, err := check.ring.Verify(text, check.kind, check.store, noon); !errors.Is(err, check.want) {
			t.Errorf("%s: %v, want %v", name, err, check.want)
		}
	}
}

// TestSeal: what is sealed is for one kind, and is no token; and no token is it.
func TestSeal(t *testing.T) {
	r := ring(t, "k1")
	text, err := r.Seal("handle", []byte("body"))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := r.Unseal(text, "handle"); err != nil || string(body) != "body" {
		t.Errorf("%s, %v", body, err)
	}
	for i := range text {
		flipped := []byte(text)
		flipped[i] ^= 1
		if body, err := r.Unseal(string(flipped), "handle"); err == nil {
			t.Errorf("byte %d: %s is %s", i, flipped, body)
		}
	}
	if _, err := r.Unseal(text, "change"); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := r.Unseal(strings.Replace(text, ".handle.", ".change.", 1), "change"); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := r.Unseal(issue(t, r), "handle"); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := r.Verify(text, "handle", "s1", noon); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := r.Seal("no.kind", nil); err == nil {
		t.Error("a kind with a point")
	}
}

// TestBits: no token with another bit is a token.
func TestBits(t *testing.T) {
	r := ring(t, "k1")
	text := issue(t, r)
	for i := range len(text) * 8 {
		flipped := []byte(text)
		flipped[i/8] ^= 1 << (i % 8)
		if _, err := r.Verify(string(flipped), "change", "s1", noon); err == nil {
			t.Fatalf("bit %d: %s", i, flipped)
		}
	}
	for i := range len(text) {
		if _, err := r.Verify(text[:i], "change", "s1", noon); err == nil {
			t.Fatalf("taken when cut at %d", i)
		}
	}
	if _, err := r.Verify(text+strings.Repeat("A", maxTextBytes), "change", "s1", noon); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
}

func TestExpiry(t *testing.T) {
	r := ring(t, "k1")
	text := issue(t, r)
	at := func(wall, up time.Duration, boot string) Instant {
		return Instant{noon.Wall.Add(wall), boot, noon.Up + up}
	}
	const us = time.Microsecond
	for _, c := range []struct {
		name string
		now  Instant
		want error
	}{
		{"right before", at(time.Minute-us, time.Minute-us, "b1"), nil},
		{"the instant itself", at(time.Minute, time.Minute, "b1"), ErrExpired},
		{"the wall clock was set back an hour", at(-time.Hour+time.Minute, time.Minute, "b1"), ErrInvalid}, // issued in the future
		{"the wall clock was set back a little", at(-time.Minute, time.Minute, "b1"), ErrExpired},
		{"the wall clock was set on an hour", at(time.Hour, time.Second, "b1"), nil},
		{"another boot, in time", at(time.Minute-us, -time.Hour, "b2"), nil},
		{"another boot, late", at(time.Minute, -time.Hour, "b2"), ErrExpired},
		{"no boot known, late", at(time.Minute, 0, ""), ErrExpired},
		{"issued as far ahead as clocks differ", at(-MaxAhead, 0, "b1"), nil},
		{"issued further ahead", at(-MaxAhead-us, 0, "b1"), ErrInvalid},
	} {
		if _, err := r.Verify(text, "change", "s1", c.now); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestVector pins the format, since tokens outlive the build that issued them,
// to a tag computed by another implementation of HMAC and HKDF.
func TestVector(t *testing.T) {
	k := Key{"k1", bytes.Repeat([]byte("k"), 32)}
	tag, err := k.tag("change", []byte(`{"x":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := encoding().EncodeToString(tag), "1bbGZkdkis5GSPo9qhaMyASYIL-6o8hHhCxpr6nF5Hc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNewRing(t *testing.T) {
	good := bytes.Repeat([]byte("x"), 32)
	for name, keys := range map[string][]Key{
		"no key":         nil,
		"a short secret": {{"a", good[:31]}},
		"a bad name":     {{"a.b", good}},
		"one name twice": {{"a", good}, {"a", good}},
	} {
		if _, err := NewRing(keys...); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestIssueRefuses(t *testing.T) {
	r := ring(t, "k1")
	for name, spoil := range map[string]func(*Claims){
		"no kind":       func(c *Claims) { c.Kind = "" },
		"a dotted kind": func(c *Claims) { c.Kind = "a.b" },
		"no object":     func(c *Claims) { c.Object = "" },
		"no store":      func(c *Claims) { c.Store = "" },
		"a long object": func(c *Claims) { c.Object = strings.Repeat("x", 129) },
	} {
		c := claims
		spoil(&c)
		if text, err := r.Issue(c, noon, time.Minute); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
	if _, err := r.Issue(claims, noon, 0); err == nil {
		t.Error("issued what has expired")
	}
}

func FuzzVerify(f *testing.F) {
	r, err := NewRing(Key{"k1", bytes.Repeat([]byte("k"), 32)})
	if err != nil {
		f.Fatal(err)
	}
	// The same in each process that fuzzes, which an issued one is not.
	body := `{"boot":"b1","bt_exp":3660000000,"exp":1772366460000000,"hash":"` + strings.Repeat("01", 32) + `","iat":1772366400000000,"nonce":"` + strings.Repeat("02", 16) + `","object":"plan_1","store":"s1"}`
	text, err := r.keys[0].seal("change", []byte(body))
	if err != nil {
		f.Fatal(err)
	}
	if _, err := r.Verify(text, "change", "s1", noon); err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add("gv1.k1.change..")
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := r.Verify(s, "change", "s1", noon); err == nil && s != text {
			t.Errorf("%q is taken as %+v", s, c)
		}
	})
}
