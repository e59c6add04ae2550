package approve

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a trust root.
const (
	MaxTrustBytes = 64 << 10
	MaxTrustKeys  = 256

	maxTrustLine = 512
	maxName      = 64
)

var (
	// ErrUntrusted is the error for an envelope that no key of the trust root has
	// signed.
	ErrUntrusted = errors.New("approve: not signed by an approver of the trust root")
	// ErrRevoked is the error for one that a revoked key has signed.
	ErrRevoked = errors.New("approve: signed with a key that was revoked")
)

// Approver is who a key of the trust root belongs to.
type Approver struct {
	UID   uint32
	Name  string // 1 to 64 of letters, digits, and . _ - @ behind the first
	KeyID string
}

// TrustRoot says whose approvals count. It is what the file was when it was
// read: whoever lands a plan reads it anew, so that a revocation holds. It may
// be used by several goroutines at a time.
type TrustRoot struct {
	keys   []trusted
	owners []uint32 // of the file and the directories above it, root aside
}

// ChosenBy tells whether an account could have written the file that the trust
// root was read from: approvals by others than itself say nothing against it.
// Root can, of every file, and is not meant.
func (t *TrustRoot) ChosenBy(uid uint32) bool { return slices.Contains(t.owners, uid) }

// trusted is one line.
type trusted struct {
	Approver
	public  ed25519.PublicKey
	revoked bool
}

// FormatKey is a line of a trust root, without its end.
func FormatKey(public ed25519.PublicKey, uid uint32, name string) string {
	return fmt.Sprintf("ed25519 %s uid=%d name=%s", base64.StdEncoding.EncodeToString(public), uid, name)
}

// Approvers are the holders of keys that are not revoked, in the file's order.
func (t *TrustRoot) Approvers() []Approver {
	var out []Approver
	for _, k := range t.keys {
		if !k.revoked {
			out = append(out, k.Approver)
		}
	}
	return out
}

// Verify returns what the envelope states and who signed it. Errors match
// [ErrInvalid], [ErrUntrusted] or [ErrRevoked]. Whether the statement is about a
// plan, and still counts, is for [Decide].
func (t *TrustRoot) Verify(envelope []byte) (Statement, Approver, error) {
	e, s, err := parseEnvelope(envelope)
	if err != nil {
		return Statement{}, Approver{}, err
	}
	i := slices.IndexFunc(t.keys, func(k trusted) bool { return k.KeyID == e.keyID })
	if i < 0 || !ed25519.Verify(t.keys[i].public, PAE(PayloadType, e.payload), e.signature) {
		return Statement{}, Approver{}, ErrUntrusted
	}
	switch k := t.keys[i]; {
	case k.revoked:
		return Statement{}, Approver{}, ErrRevoked
	case k.UID != s.Approver.UID:
		return Statement{}, Approver{}, fmt.Errorf("%w: the key is of another account", ErrUntrusted)
	default:
		return s, k.Approver, nil
	}
}

// ParseTrustRoot reads the text of a trust root, of at most MaxTrustBytes. Each
// line ends with a line feed and is empty, a comment that begins with #, or a
// key:
//
//	ed25519 <base64> uid=<number> name=<name>
//	ed25519 <base64> uid=<number> name=<name> revoked
//
// with one space between words. A key stands once; a name belongs to one
// account, and an account has one name. Where a file is trusted because of where
// it lies, use [OpenTrustRoot].
func ParseTrustRoot(text []byte) (*TrustRoot, error) {
	if len(text) > MaxTrustBytes {
		return nil, fmt.Errorf("approve: trust root: more than %d bytes", MaxTrustBytes)
	}
	t := &TrustRoot{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, ended := strings.CutSuffix(line, "\n")
		if !ended {
			return nil, fmt.Errorf("approve: trust root: line %d does not end: the file may be cut off", number)
		}
		if line == "" || line[0] == '#' {
			continue
		}
		k, err := parseKey(line)
		if err == nil {
			err = t.add(k)
		}
		if err != nil {
			return nil, fmt.Errorf("approve: trust root: line %d: %w", number, err)
		}
	}
	return t, nil
}

func (t *TrustRoot) add(k trusted) error {
	if len(t.keys) >= MaxTrustKeys {
		return fmt.Errorf("more than %d keys", MaxTrustKeys)
	}
	for _, other := range t.keys {
		switch {
		case other.KeyID == k.KeyID:
			return errors.New("the key stands there already")
		case (other.UID == k.UID) != (other.Name == k.Name):
			return errors.New("a name belongs to one account, and an account has one name")
		}
	}
	t.keys = append(t.keys, k)
	return nil
}

func parseKey(line string) (k trusted, err error) {
	if len(line) > maxTrustLine {
		return k, fmt.Errorf("more than %d bytes", maxTrustLine)
	}
	words := strings.Split(line, " ")
	if len(words) == 5 && words[4] == "revoked" {
		k.revoked = true
		words = words[:4]
	}
	if len(words) != 4 || words[0] != "ed25519" {
		return k, errors.New("expected: ed25519 <base64> uid=<number> name=<name> [revoked]")
	}
	public, err := base64.StdEncoding.Strict().DecodeString(words[1])
	if err != nil || len(public) != ed25519.PublicKeySize || base64.StdEncoding.EncodeToString(public) != words[1] {
		return k, errors.New("the key is not 32 bytes in base64 with padding (RFC 4648 section 4)")
	}
	if weak(public) {
		return k, errors.New("the key is one that signatures can be made for without a secret")
	}
	uid, ok := strings.CutPrefix(words[2], "uid=")
	n, err := strconv.ParseUint(uid, 10, 32)
	if !ok || err != nil || n == noUID || strconv.FormatUint(n, 10) != uid {
		return k, errors.New("expected uid= and the number of an account")
	}
	name, ok := strings.CutPrefix(words[3], "name=")
	if !ok || !validName(name) {
		return k, fmt.Errorf("expected name= and 1 to %d letters, digits, and . _ - @ behind the first", maxName)
	}
	k.public = public
	k.Approver = Approver{UID: uint32(n), Name: name, KeyID: KeyID(public)}
	return k, nil
}

func validName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i, c := range []byte(s) {
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._-@", rune(c))) {
			return false
		}
	}
	return true
}

// weak tells whether a public key is a point of small order (RFC 8032 section
// 5.1, RFC 7748 section 6): every eighth message or more has a signature that
// anybody can make. There are 8 such points; the spellings are theirs and those
// that are beyond the field, with either sign.
func weak(public []byte) bool {
	y := [32]byte(public)
	y[31] &= 0x7f
	return slices.Contains(smallOrder[:], y)
}

// smallOrder are the y coordinates, little-endian.
var smallOrder = [...][32]byte{
	{},     // 0, order 4
	{0: 1}, // 1, order 1
	// order 8
	{0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
	{0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
	// p-1 (order 2), p and p+1, with p = 2^255-19
	{0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	{0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	{0xee, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
}
