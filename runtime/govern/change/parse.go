package change

import (
	"bytes"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/cas"
)

// MaxTreeText bounds the canonical text of a tree that is read, in bytes.
const MaxTreeText = 8 << 20

// ParseTree reads the canonical text of a tree, as AppendCanonical writes it and
// no other spelling, and checks it. Errors match [ErrNoTree].
func ParseTree(text []byte) (Tree, error) {
	if len(text) > MaxTreeText {
		return Tree{}, noTree("its text has more than %d bytes", MaxTreeText)
	}
	const depth = 3 // of containers
	r := canon.NewJSONReader(text, depth)
	t := readTree(r)
	if err := r.End(); err != nil {
		return Tree{}, noTree("%w", err)
	}
	if err := t.Check(); err != nil {
		return Tree{}, err
	}
	// Members that stand twice, or not at all, and other spellings end here.
	if !bytes.Equal(t.AppendCanonical(nil), text) {
		return Tree{}, noTree("its text is not in canonical form")
	}
	return t, nil
}

func readTree(r *canon.Reader) (t Tree) {
	if r.Null() {
		return Absent
	}
	t.Present = true
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "mode":
			t.Mode = readMode(r)
		case "nodes":
			r.BeginArray(0, MaxEntries)
			for r.NextElement() {
				t.Nodes = canon.Append(r, t.Nodes, readNode(r))
			}
		default:
			r.UnknownMember()
		}
	}
	return t
}

func readNode(r *canon.Reader) Node {
	n := Node{Dir: true}
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "mode":
			n.Mode = readMode(r)
		case "path":
			n.Path = r.String(1, maxPath)
		case "sha256":
			d, err := cas.ParseDigest(r.String(64, 64))
			if err != nil {
				r.Fail(canon.CodePattern, "expected a digest")
			}
			n.Digest, n.Dir = d, false
		case "size":
			n.Size = r.Int(0, MaxFileBytes)
		default:
			r.UnknownMember()
		}
	}
	return n
}

// maxPath bounds a path, in characters; Check bounds it more closely.
const maxPath = MaxDepth * 256

// readMode reads permission bits in octal digits.
func readMode(r *canon.Reader) fs.FileMode {
	s := r.String(4, 4)
	bits, err := strconv.ParseUint(s, 8, 16)
	if err != nil || fs.FileMode(bits)&^fs.ModePerm != 0 {
		r.Fail(canon.CodePattern, fmt.Sprintf("expected the permission bits of %v, in octal", fs.ModePerm))
	}
	return fs.FileMode(bits)
}
