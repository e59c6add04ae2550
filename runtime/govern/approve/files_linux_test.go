package approve

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// mine is this account.
var mine = uint32(os.Geteuid())

// scene is a trust root of this account's at DIR/etc/approvers.
func scene(t *testing.T) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "etc", "approvers")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, path, keyOf(mine).line(mine, "me")+"\n"+keyOf(ada).line(ada, "ada")+"\n", 0o644)
	return dir, path
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	chmod(t, path, mode)
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenTrustRoot(t *testing.T) {
	_, path := scene(t)
	root, err := OpenTrustRoot(path, 4_000_000)
	if err != nil || len(root.Approvers()) != 2 {
		t.Fatalf("%v, %v", root, err)
	}
	put(t, path, keyOf(ada).line(ada, "ada")+" revoked\n"+keyOf(mine).line(mine, "me")+"\n", 0o644)
	if root, err = OpenTrustRoot(path); err != nil || len(root.Approvers()) != 1 {
		t.Fatalf("revoked: %v, %v", root, err)
	}
}

func TestOpenTrustRootRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, path string) string // the path to open
		avoid []uint32
		want  string
	}{
		"written by a group":   {func(t *testing.T, _, path string) string { chmod(t, path, 0o664); return path }, nil, "approvers can be written by others (mode 0664)"},
		"written by others":    {func(t *testing.T, _, path string) string { chmod(t, path, 0o646); return path }, nil, "approvers can be written by others"},
		"directory of a group": {func(t *testing.T, dir, path string) string { chmod(t, dir+"/etc", 0o775); return path }, nil, "etc can be written by others"},
		"directory of all":     {func(t *testing.T, dir, path string) string { chmod(t, dir+"/etc", os.ModeSticky|0o777); return path }, nil, "etc can be written by others"},
		"one further up":       {func(t *testing.T, dir, path string) string { chmod(t, dir, 0o777); return path }, nil, "can be written by others"},
		"link": {func(t *testing.T, dir, path string) string {
			must(t, os.Symlink(path, dir+"/etc/link"))
			return dir + "/etc/link"
		}, nil, "too many levels of symbolic links"},
		"linked directory": {func(t *testing.T, dir, path string) string {
			must(t, os.Symlink(dir+"/etc", dir+"/link"))
			return dir + "/link/approvers"
		}, nil, "not a directory"},
		"second name": {func(t *testing.T, dir, path string) string { must(t, os.Link(path, dir+"/x")); return path }, nil, "single name"},
		"directory":   {func(t *testing.T, dir, _ string) string { return dir + "/etc" }, nil, "is not a regular file"},
		"pipe": {func(t *testing.T, dir, path string) string {
			must(t, unix.Mkfifo(dir+"/etc/p", 0o600))
			return dir + "/etc/p"
		}, nil, "is not a regular file"},
		"missing":        {func(t *testing.T, dir, path string) string { return path + "x" }, nil, "no such file"},
		"relative":       {func(*testing.T, string, string) string { return "approvers" }, nil, "absolute"},
		"roundabout":     {func(t *testing.T, dir, path string) string { return dir + "/etc/../etc/approvers" }, nil, "shortest form"},
		"the server's":   {func(t *testing.T, _, path string) string { return path }, []uint32{mine}, "may not choose approvers"},
		"the agent's":    {func(t *testing.T, _, path string) string { return path }, []uint32{4_000_000, mine}, "may not choose approvers"},
		"not understood": {func(t *testing.T, _, path string) string { put(t, path, "x\n", 0o644); return path }, nil, "line 1"},
		"long": {func(t *testing.T, _, path string) string {
			put(t, path, strings.Repeat("#\n", MaxTrustBytes), 0o644)
			return path
		}, nil, "more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := scene(t)
			path = c.spoil(t, dir, path)
			if _, err := OpenTrustRoot(path, c.avoid...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// An account that is not an approver has no say in who is one.
func TestTrustRootOfSomebodyElse(t *testing.T) {
	if mine != 0 {
		// Then the file is somebody else's as soon as it does not name us.
		_, path := scene(t)
		put(t, path, keyOf(ada).line(ada, "ada")+"\n", 0o644)
		if _, err := OpenTrustRoot(path); err == nil || !strings.Contains(err.Error(), "neither root nor an approver") {
			t.Error(err)
		}
		return
	}
	for name, c := range map[string]struct {
		own  func(dir, path string) string
		uid  int
		fail bool
	}{
		"an approver's file":        {func(_, path string) string { return path }, ada, false},
		"a stranger's file":         {func(_, path string) string { return path }, eve, true},
		"an approver's directory":   {func(dir, _ string) string { return dir + "/etc" }, ada, false},
		"a stranger's directory":    {func(dir, _ string) string { return dir + "/etc" }, eve, true},
		"a stranger's, further up":  {func(dir, _ string) string { return dir }, eve, true},
		"a revoked approver's file": {func(_, path string) string { return path }, bob, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := scene(t)
			put(t, path, strings.Replace(trustText(), "name=bob", "name=bob revoked", 1), 0o644)
			must(t, os.Chown(c.own(dir, path), c.uid, -1))
			_, err := OpenTrustRoot(path, server, agent)
			if (err != nil) != c.fail || c.fail && !strings.Contains(err.Error(), "belongs to account "+strconv.Itoa(c.uid)+", which is neither root nor an approver") {
				t.Error(err)
			}
		})
	}
}

func TestKeyFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	public, err := GenerateKey(path)
	must(t, err)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	signer, err := OpenKey(path)
	must(t, err)
	signature, err := signer.Sign(context.Background(), []byte("x"))
	if err != nil || signer.KeyID() != KeyID(public) || !ed25519.Verify(public, []byte("x"), signature) {
		t.Errorf("the key of the file is another: %v", err)
	}
	if _, err := GenerateKey(path); err == nil {
		t.Error("a key is written over")
	}
	if again, err := OpenKey(path); err != nil || again.KeyID() != signer.KeyID() {
		t.Errorf("it was written over: %v", err)
	}
}

func TestOpenKeyRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, path string) string
		want  string
	}{
		"read by a group": {func(t *testing.T, path string) string { chmod(t, path, 0o640); return path }, "chmod 600"},
		"read by others":  {func(t *testing.T, path string) string { chmod(t, path, 0o604); return path }, "chmod 600"},
		"written by all":  {func(t *testing.T, path string) string { chmod(t, path, 0o622); return path }, "chmod 600"},
		"link":            {func(t *testing.T, path string) string { must(t, os.Symlink(path, path+"l")); return path + "l" }, "symbolic links"},
		"second name":     {func(t *testing.T, path string) string { must(t, os.Link(path, path+"l")); return path }, "single name"},
		"directory":       {func(t *testing.T, path string) string { return filepath.Dir(path) }, "single name"},
		"pipe":            {func(t *testing.T, path string) string { must(t, unix.Mkfifo(path+"p", 0o600)); return path + "p" }, "single name"},
		"no key":          {func(t *testing.T, path string) string { put(t, path, "x", 0o600); return path }, "not one private key"},
		"two keys": {func(t *testing.T, path string) string {
			text, _ := os.ReadFile(path)
			put(t, path, string(text)+string(text), 0o600)
			return path
		}, "not one private key"},
		"text before": {func(t *testing.T, path string) string {
			put(t, path, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE"})), 0o600)
			return path
		}, "not one private key"},
		"nothing in it": {func(t *testing.T, path string) string {
			put(t, path, string(pem.EncodeToMemory(&pem.Block{Type: keyBlock})), 0o600)
			return path
		}, "PKCS #8"},
		"long": {func(t *testing.T, path string) string {
			put(t, path, strings.Repeat("x", maxKeyBytes+1), 0o600)
			return path
		}, "more than 4096 bytes"},
		"missing":           {func(t *testing.T, path string) string { return path + "x" }, "no such file"},
		"of another system": {func(t *testing.T, path string) string { put(t, path, ecKey(t), 0o600); return path }, "not a key of Ed25519"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			_, err := GenerateKey(path)
			must(t, err)
			if _, err := OpenKey(c.spoil(t, path)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	if mine == 0 {
		path := filepath.Join(t.TempDir(), "key")
		_, err := GenerateKey(path)
		must(t, err)
		must(t, os.Chown(path, ada, -1))
		if _, err := OpenKey(path); err == nil || !strings.Contains(err.Error(), "belongs to account 2001") {
			t.Errorf("another's key: %v", err)
		}
	}
}

func ecKey(t *testing.T) string {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}))
}

// TestChosenBy: whoever may not approve, and owns the file, does not choose who
// may.
func TestChosenBy(t *testing.T) {
	dir, path := scene(t)
	owner := mine
	if owner == 0 {
		owner = 65_533
		must(t, os.Chown(path, int(owner), int(owner)))
	}
	put(t, path, keyOf(owner).line(owner, "srv")+"\n"+keyOf(ada).line(ada, "ada")+"\n", 0o644)
	trust, err := OpenTrustRoot(path)
	must(t, err)
	if !trust.ChosenBy(owner) || trust.ChosenBy(ada) || trust.ChosenBy(0) {
		t.Errorf("%s: owners %v", dir, trust.owners)
	}
	for _, self := range []bool{false, true} {
		for _, as := range []string{"server", "peer"} {
			p := aPlan()
			p.Policy.SelfAllowed = self
			if as == "server" {
				p.ServerUID = owner
			} else {
				p.PeerUID = &owner
			}
			d, err := Decide(bodyOf(t, p), [][]byte{signed(t, keyOf(ada), statement(t, p, ada))}, trust, p.Created)
			if self && (err != nil || !d.Approved) || !self && !errors.Is(err, ErrChosen) {
				t.Errorf("%s, self %v: %+v, %v", as, self, d, err)
			}
		}
	}
}

// Of many who make a key at one path, one does.
func TestOneKeyAPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	var all sync.WaitGroup
	var made atomic.Int32
	for range 16 {
		all.Go(func() {
			if _, err := GenerateKey(path); err == nil {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if _, err := OpenKey(path); err != nil || made.Load() != 1 {
		t.Errorf("%d made it, %v", made.Load(), err)
	}
}
