package binding

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/capgen/capgen/runtime/canon"
)

// Entry is one capability as the host puts it into a table.
type Entry struct {
	Name, ID string
	Binding  string // the JSON of the Capability
	// Was are the names it had before, for messages: none is looked up.
	Was []string
}

// EncodeTable writes entries as one wire value, an array of
// [name, id, binding, old names…], sorted by name. It does not look into the bindings and
// leaves entries as they are. A text that is not UTF-8, or a name that stands
// twice, gives bytes that ParseTable refuses.
func EncodeTable(entries []Entry) []byte {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	w := canon.NewWireWriter(nil)
	w.BeginArray(len(sorted), 0, MaxTableEntries)
	for i, e := range sorted {
		w.Element(i)
		w.BeginArray(3+len(e.Was), 3, 3+maxWas)
		for j, text := range append([]string{e.Name, e.ID, e.Binding}, e.Was...) {
			w.Element(j)
			w.String(text, 0, maxBinding)
		}
		w.EndArray()
	}
	w.EndArray()
	return w.Bytes()
}

// ErrUnknown is a Lookup of a name that the table does not hold.
var ErrUnknown = errors.New("binding: no such capability")

// Table is a parsed table. It is safe for concurrent use.
type Table struct {
	names  []string
	rows   []row
	old    map[string]string // old name to name
	digest string
	mu     sync.Mutex
	parsed map[string]*Capability
}

// row is where one entry's other texts stand, as wire bytes.
type row struct{ id, binding []byte }

// ParseTable reads what EncodeTable writes and keeps wire, which must not
// change afterwards. It checks the names, their order and the form of every
// entry, but parses no binding.
func ParseTable(wire []byte) (*Table, error) {
	t := &Table{parsed: make(map[string]*Capability), old: make(map[string]string)}
	r := canon.NewWireReader(wire, 2)
	r.BeginArray(0, MaxTableEntries)
	for r.NextElement() {
		t.parseRow(r, wire)
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("binding: table: %w", err)
	}
	sum := sha256.Sum256(wire)
	t.digest = hex.EncodeToString(sum[:])
	return t, nil
}

func (t *Table) parseRow(r *canon.Reader, wire []byte) {
	var name string
	var texts [2][]byte
	r.BeginArray(3, 3+maxWas)
	for i := 0; r.NextElement(); i++ {
		switch {
		case i > 2:
			t.parseOld(r, name)
			continue
		case i == 0:
			name = r.String(1, maxNameBytes)
			switch {
			case r.Err() != nil:
			case !ValidName(name):
				r.Fail(canon.CodePattern, "expected a capability name")
			case len(t.names) > 0 && t.names[len(t.names)-1] >= name:
				r.Fail(canon.CodeDuplicate, "names not in order, or one twice")
			}
			continue
		}
		from := r.Offset()
		if r.Peek() != canon.KindString {
			r.Fail(canon.CodeType, "expected string, got "+r.Peek().String())
		}
		r.Skip()
		texts[i-1] = wire[from:r.Offset()]
	}
	t.names = append(t.names, name)
	t.rows = append(t.rows, row{id: texts[0], binding: texts[1]})
}

// parseOld reads one of the names that the capability had before.
func (t *Table) parseOld(r *canon.Reader, name string) {
	old := r.String(1, maxNameBytes)
	switch {
	case r.Err() != nil:
	case !ValidName(old):
		r.Fail(canon.CodePattern, "expected a capability name")
	case t.old[old] != "":
		r.Fail(canon.CodeDuplicate, "an old name twice")
	default:
		t.old[old] = name
	}
}

// Renamed is the name that the capability once called old has now, empty for
// none.
func (t *Table) Renamed(old string) string { return t.old[old] }

// Names are the names in order. The caller must not change the slice.
func (t *Table) Names() []string { return t.names }

// Digest is the SHA-256 of the table's bytes in hexadecimal: it tells whether
// host and worker speak of the same set.
func (t *Table) Digest() string { return t.digest }

// Lookup returns the capability of that name, parsed at the first call; it is
// shared and must not be changed. The error is ErrUnknown, or says why the
// table's text for that name is refused.
func (t *Table) Lookup(name string) (*Capability, error) {
	i, ok := slices.BinarySearch(t.names, name)
	if !ok {
		return nil, ErrUnknown
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.parsed[name]; c != nil {
		return c, nil
	}
	c, err := t.rows[i].parse(name)
	if err != nil {
		return nil, err
	}
	t.parsed[name] = c
	return c, nil
}

func (w row) parse(name string) (*Capability, error) {
	id, err := wireText(w.id, maxIDBytes)
	if err != nil {
		return nil, fmt.Errorf("binding: id of %s: %w", name, err)
	}
	text, err := wireText(w.binding, maxBinding)
	if err != nil {
		return nil, fmt.Errorf("binding: text of %s: %w", name, err)
	}
	c, err := ParseCapability(text)
	if err != nil {
		return nil, fmt.Errorf("%w (capability %s)", err, name)
	}
	if c.Name != name || c.ID != id {
		return nil, fmt.Errorf("binding: the entry of %s holds another capability", name)
	}
	return c, nil
}

func wireText(wire []byte, most int) (string, error) {
	r := canon.NewWireReader(wire, 0)
	s := r.String(1, most)
	return s, r.End()
}
