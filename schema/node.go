package schema

import "slices"

// limits bound what Load accepts. They are fields so that tests can reach
// them with small inputs; Load always uses defaultLimits.
type limits struct {
	fileBytes    int // of one file
	fileDepth    int // of nesting in one file
	fileNodes    int // values in all files, keys not counted
	files        int // that a manifest refers to, itself counted
	allBytes     int // of all files
	textBytes    int // of all capabilities' texts, references written out
	capabilities int
	properties   int // of one object
	enum         int // values of one enum
	schemaParts  int // of one capability, references written out
	allParts     int // of all capabilities
	valueDepth   int // containers in a value that a schema describes
	defaultBytes int // of one default with the defaults inside it
}

func defaultLimits() limits {
	return limits{
		fileBytes:    MaxFileBytes,
		fileDepth:    100,
		fileNodes:    1_000_000,
		files:        256,
		allBytes:     16 << 20,
		textBytes:    32 << 20,
		capabilities: 10_000,
		properties:   256,
		enum:         4_096,
		schemaParts:  10_000,
		allParts:     1_000_000,
		valueDepth:   32,
		defaultBytes: 64 << 10,
	}
}

type nodeKind uint8

const (
	// invalidNode stands for a value whose problem is reported already;
	// later steps pass over it in silence.
	invalidNode nodeKind = iota
	nullNode
	boolNode
	numberNode
	stringNode
	listNode
	mappingNode
)

func (k nodeKind) String() string {
	return [...]string{"an invalid value", "null", "a boolean", "a number", "a string", "a list", "a mapping"}[k]
}

// node is a value of a manifest file with its position, the same for YAML and
// JSON.
type node struct {
	kind nodeKind
	// text of a string, the literal of a number (JSON's grammar), true or
	// false.
	text    string
	pos     Position
	members []member // of a mapping, in file order, keys unique
	items   []*node  // of a list
}

type member struct {
	key   string
	pos   Position // of the key
	value *node
}

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	if m := n.member(key); m != nil {
		return m.value
	}
	return nil
}

func (n *node) member(key string) *member {
	i := slices.IndexFunc(n.members, func(m member) bool { return m.key == key })
	if i < 0 {
		return nil
	}
	return &n.members[i]
}

// isNumber tells whether s is a number in JSON's grammar (RFC 8259 section 6).
func isNumber(s string) bool {
	i := 0
	digits := func() bool {
		start := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(s)
}

// treeBuilder is what the YAML and the JSON reader share: limits and the
// search for duplicate keys.
type treeBuilder struct {
	*report
	limits limits
}

// enter counts a node at a depth; false means that reading has to stop, with
// the reason reported.
func (t *treeBuilder) enter(at Position, depth int) bool {
	t.nodes++
	if t.nodes > t.limits.fileNodes {
		t.errorf(at, ruleTooManyNodes, "more than %d values in the manifest's files", t.limits.fileNodes).
			hint("split the manifest into several servers")
		return false
	}
	if depth > t.limits.fileDepth {
		t.errorf(at, ruleTooDeep, "nested more than %d deep", t.limits.fileDepth).hint("flatten it")
		return false
	}
	return true
}

// keySet finds duplicate keys. Small mappings, nearly all, need no map.
type keySet struct{ index map[string]int }

const smallMapping = 16

func (t *treeBuilder) addMember(n *node, seen *keySet, m member) {
	if seen.index == nil && len(n.members) >= smallMapping {
		seen.index = make(map[string]int, 2*smallMapping)
		for i := range n.members {
			seen.index[n.members[i].key] = i
		}
	}
	var first *member
	if seen.index == nil {
		first = n.member(m.key)
	} else if i, ok := seen.index[m.key]; ok {
		first = &n.members[i]
	}
	if first != nil {
		t.errorf(m.pos, ruleDuplicateKey, "key %s stands twice, first at %s", quote(m.key), first.pos).
			hint("remove one of the two").related(first.pos)
		return
	}
	if seen.index != nil {
		seen.index[m.key] = len(n.members)
	}
	n.members = append(n.members, m)
}
