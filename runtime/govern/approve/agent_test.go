package approve

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/internal/sshagenttest"
)

// fakeAgent answers each request with what answer returns, until the test ends.
func fakeAgent(t *testing.T, answer func(request []byte) []byte) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "agent")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			var header [4]byte
			if _, err := io.ReadFull(c, header[:]); err == nil {
				request := make([]byte, binary.BigEndian.Uint32(header[:]))
				if _, err := io.ReadFull(c, request); err == nil {
					c.Write(answer(request))
				}
			}
			c.Close()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-ended })
	return socket
}

// identities is the answer of an agent with a key of another type, and ours.
func identities(k *key) []byte {
	b := []byte{agentIdentities, 0, 0, 0, 2}
	b = appendString(appendString(b, appendString(nil, []byte("ssh-rsa"))), []byte("other"))
	return appendString(appendString(b, agentBlob(k.private.Public().(ed25519.PublicKey))), []byte("mine"))
}

func signatureOf(k *key, request []byte) []byte {
	_, rest, _ := cutString(request[1:])
	data, _, _ := cutString(rest)
	signature, _ := k.Sign(context.Background(), data)
	return appendString([]byte{agentSignature}, appendString(appendString(nil, []byte(agentKeyType)), signature))
}

func TestAgentSigns(t *testing.T) {
	k := keyOf(ada)
	socket := fakeAgent(t, func(request []byte) []byte {
		if request[0] == agentRequestIdentities {
			return appendString(nil, identities(k))
		}
		return appendString(nil, signatureOf(k, request))
	})
	signer, err := OpenAgent(context.Background(), socket, k.KeyID())
	if err != nil {
		t.Fatal(err)
	}
	p := aPlan()
	d, err := Decide(bodyOf(t, p), [][]byte{signed(t, signer, statement(t, p, ada))}, trust(t, trustText()), noon.Later(2*time.Minute))
	if err != nil || !d.Approved {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := OpenAgent(context.Background(), socket, keyOf(bob).KeyID()); err == nil || !strings.Contains(err.Error(), "has no key") {
		t.Errorf("a key that it does not have: %v", err)
	}
}

// What an agent says is checked: it may be anybody's.
func TestAgentsThatMisbehave(t *testing.T) {
	k := keyOf(ada)
	good := identities(k)
	for name, answer := range map[string][]byte{
		"nothing":      nil,
		"failure":      appendString(nil, []byte{5}),
		"cut":          appendString(nil, good)[:20],
		"many":         appendString(nil, append([]byte{agentIdentities, 0xff, 0xff, 0xff, 0xff}, good[5:]...)),
		"few":          appendString(nil, append([]byte{agentIdentities, 0, 0, 0, 1}, good[5:]...)),
		"announced":    {0xff, 0xff, 0xff, 0xff, agentIdentities},
		"short key":    appendString(nil, appendString(appendString([]byte{agentIdentities, 0, 0, 0, 1}, appendString(appendString(nil, []byte(agentKeyType)), []byte("short"))), nil)),
		"without type": appendString(nil, appendString(appendString([]byte{agentIdentities, 0, 0, 0, 1}, nil), nil)),
	} {
		if keys, err := AgentKeys(context.Background(), fakeAgent(t, func([]byte) []byte { return answer })); err == nil {
			t.Errorf("%s: %v", name, keys)
		}
	}
	for name, answer := range map[string]func(request []byte) []byte{
		"nothing":       func([]byte) []byte { return nil },
		"failure":       func([]byte) []byte { return appendString(nil, []byte{5}) },
		"empty":         func([]byte) []byte { return appendString(nil, nil) },
		"another key's": func(r []byte) []byte { return appendString(nil, signatureOf(keyOf(bob), r)) },
		"another text's": func(r []byte) []byte {
			return appendString(nil, signatureOf(k, appendString(appendString([]byte{0}, nil), []byte("x"))))
		},
		"short": func([]byte) []byte {
			return appendString(nil, appendString([]byte{agentSignature}, appendString(appendString(nil, []byte(agentKeyType)), []byte("short"))))
		},
		"another type's": func(r []byte) []byte {
			return appendString(nil, appendString([]byte{agentSignature}, appendString(appendString(nil, []byte("ssh-rsa")), make([]byte, 64))))
		},
		"longer": func(r []byte) []byte { return appendString(nil, append(signatureOf(k, r), 0)) },
	} {
		signer := &agentKey{fakeAgent(t, answer), k.private.Public().(ed25519.PublicKey)}
		if signature, err := signer.Sign(context.Background(), []byte("text")); err == nil {
			t.Errorf("%s: %x", name, signature)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	release := make(chan struct{})
	slow := &agentKey{fakeAgent(t, func([]byte) []byte { <-release; return nil }), k.private.Public().(ed25519.PublicKey)}
	defer close(release)
	if _, err := slow.Sign(ctx, nil); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one that does not answer: %v", err)
	}
}

// OpenSSH's agent, where there is one.
func TestOpenSSHAgent(t *testing.T) {
	socket := sshagenttest.Start(t)
	keys, err := AgentKeys(context.Background(), socket)
	if err != nil || len(keys) != 1 {
		t.Fatalf("%v, %v", keys, err)
	}
	signer, err := OpenAgent(context.Background(), socket, KeyID(keys[0]))
	if err != nil {
		t.Fatal(err)
	}
	p := aPlan()
	envelope := signed(t, signer, statement(t, p, ada))
	d, err := Decide(bodyOf(t, p), [][]byte{envelope}, trust(t, FormatKey(keys[0], ada, "ada")+"\n"), noon.Later(2*time.Minute))
	if err != nil || !d.Approved {
		t.Errorf("%+v, %v", d, err)
	}
}

func FuzzAgentAnswers(f *testing.F) {
	f.Add(identities(keyOf(ada)))
	f.Add(appendString([]byte{agentSignature}, appendString(appendString(nil, []byte(agentKeyType)), make([]byte, 64))))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if keys, err := parseIdentities(answer); err == nil {
			for _, k := range keys {
				if !bytes.Contains(answer, agentBlob(k)) {
					t.Fatalf("%x is in none of %x", k, answer)
				}
			}
		}
		if s, err := parseSignature(answer); err == nil && len(s) != ed25519.SignatureSize {
			t.Fatalf("a signature of %d bytes", len(s))
		}
	})
}
