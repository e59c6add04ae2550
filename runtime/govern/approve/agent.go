package approve

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Messages of the SSH agent protocol (draft-ietf-sshm-ssh-agent, section 3).
const (
	agentRequestIdentities = 11
	agentIdentities        = 12
	agentSignRequest       = 13
	agentSignature         = 14

	agentKeyType = "ssh-ed25519" // RFC 8709

	// maxAgentBytes bounds an answer, as OpenSSH does.
	maxAgentBytes = 256 << 10
)

var errAgent = errors.New("approve: the agent's answer is not one of the protocol")

// AgentKeys are the Ed25519 keys of the ssh-agent at a socket.
func AgentKeys(ctx context.Context, socket string) ([]ed25519.PublicKey, error) {
	answer, err := askAgent(ctx, socket, []byte{agentRequestIdentities})
	if err != nil {
		return nil, fmt.Errorf("approve: the keys of the agent: %w", err)
	}
	return parseIdentities(answer)
}

// OpenAgent returns a signer with the key of that KeyID in the ssh-agent at a
// socket. It signs the encoding of a statement as it is; that begins with
// DSSEv1, with which nothing begins that SSH has keys sign (RFC 4252 section 7,
// and OpenSSH's SSHSIG), so that no signature of one is one of the other.
//
// Nobody can see whether an agent asks before it signs. Without that, whoever
// can reach its socket can approve: a plan that counts on it is of separation
// unknown.
func OpenAgent(ctx context.Context, socket, keyID string) (Signer, error) {
	keys, err := AgentKeys(ctx, socket)
	if err != nil {
		return nil, err
	}
	for _, public := range keys {
		if KeyID(public) == keyID {
			return &agentKey{socket, public}, nil
		}
	}
	return nil, fmt.Errorf("approve: the agent has no key %s", keyID)
}

type agentKey struct {
	socket string
	public ed25519.PublicKey
}

func (k *agentKey) KeyID() string { return KeyID(k.public) }

// Sign waits, as long as ctx allows, for whoever the agent asks.
func (k *agentKey) Sign(ctx context.Context, pae []byte) ([]byte, error) {
	request := appendString([]byte{agentSignRequest}, agentBlob(k.public))
	request = appendString(request, pae)
	request = append(request, 0, 0, 0, 0) // no flags
	answer, err := askAgent(ctx, k.socket, request)
	if err != nil {
		return nil, fmt.Errorf("approve: sign with the agent: %w", err)
	}
	signature, err := parseSignature(answer)
	if err != nil {
		return nil, err
	}
	if !ed25519.Verify(k.public, pae, signature) {
		return nil, errors.New("approve: the agent's signature is not of the key")
	}
	return signature, nil
}

// agentBlob is a public key as the protocol has it (RFC 8709 section 4).
func agentBlob(public ed25519.PublicKey) []byte {
	return appendString(appendString(nil, []byte(agentKeyType)), public)
}

// appendString appends bytes behind their number (RFC 4251 section 5).
func appendString(b, s []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// cutString takes such bytes from the front of b.
func cutString(b []byte) (s, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(b)
	if b = b[4:]; int64(n) > int64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// cutTyped takes the two parts that keys and signatures of Ed25519 have, and
// returns the second; known is false of another type.
func cutTyped(b []byte, size int) (part []byte, known bool, err error) {
	kind, rest, ok := cutString(b)
	if !ok {
		return nil, false, errAgent
	}
	if string(kind) != agentKeyType {
		return nil, false, nil
	}
	part, rest, ok = cutString(rest)
	if !ok || len(rest) > 0 || len(part) != size {
		return nil, false, errAgent
	}
	return part, true, nil
}

func parseIdentities(b []byte) ([]ed25519.PublicKey, error) {
	if len(b) < 5 || b[0] != agentIdentities {
		return nil, errAgent
	}
	n := binary.BigEndian.Uint32(b[1:])
	b = b[5:]
	var keys []ed25519.PublicKey
	for range n {
		blob, rest, ok := cutString(b)
		if !ok {
			return nil, errAgent
		}
		if _, b, ok = cutString(rest); !ok { // a comment
			return nil, errAgent
		}
		public, known, err := cutTyped(blob, ed25519.PublicKeySize)
		if err != nil {
			return nil, err
		}
		if known {
			keys = append(keys, public)
		}
	}
	if len(b) > 0 {
		return nil, errAgent
	}
	return keys, nil
}

func parseSignature(b []byte) ([]byte, error) {
	if len(b) == 0 || b[0] != agentSignature {
		return nil, errors.New("approve: the agent does not sign")
	}
	blob, rest, ok := cutString(b[1:])
	if !ok || len(rest) > 0 {
		return nil, errAgent
	}
	signature, known, err := cutTyped(blob, ed25519.SignatureSize)
	if err != nil || !known {
		return nil, errAgent
	}
	return signature, nil
}

// askAgent sends a request and returns the answer.
func askAgent(ctx context.Context, socket string, request []byte) ([]byte, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := c.Write(appendString(nil, request)); err != nil {
		return nil, err
	}
	var header [4]byte
	if _, err := io.ReadFull(c, header[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(header[:])
	if n > maxAgentBytes {
		return nil, errAgent
	}
	answer, err := io.ReadAll(io.LimitReader(c, int64(n)))
	if err == nil && len(answer) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return answer, err
}
