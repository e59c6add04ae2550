package program

import (
	"weak"

	"go.starlark.net/starlark"
)

// The interpreter hashes an int by its low 32 bits and puts it into a bucket by
// the low bits of that, so that keys such as i << 16 all stand in one chain,
// which each insertion walks, and keys such as i << 32 are compared with one
// another on the way. What cannot be hashed better is paid for: an operation on
// a large dict or set costs the more steps the longer the chain of its key is
// than chains of well-spread keys would be.

const (
	// crowdFrom is the size of a dict or set from which its chains are watched.
	crowdFrom = 1 << 10
	// crowdClasses is how many chains, and hashes, are told apart.
	crowdClasses = 1 << 10
	// crowdWalk is how many entries of a chain are walked past for one step.
	crowdWalk = 16
	// crowdSlack is how many times longer than on average a chain may be.
	crowdSlack = 16
)

// crowd counts the keys that were added to one large dict or set: by the low
// bits of their hash, which all keys of a chain have in common, and by all of
// it, mixed.
type crowd struct {
	total  int
	chains [crowdClasses]int32
	hashes [crowdClasses]int32
}

// excess is what the chain of a key with that hash costs.
func (c *crowd) excess(hash uint32) int {
	fair := crowdSlack * (c.total/crowdClasses + 1)
	chain, same := int(c.chains[hash%crowdClasses])-fair, int(c.hashes[mixed(hash)])-fair
	return max(0, same) + max(0, chain)/crowdWalk
}

func (c *crowd) add(hash uint32) {
	c.total++
	c.chains[hash%crowdClasses]++
	c.hashes[mixed(hash)]++
}

// mixed spreads hashes that differ in any bit (Knuth's multiplication).
func mixed(hash uint32) uint32 { return hash * 2654435769 / (1 << 32 / crowdClasses) }

// crowds are those of an execution. They do not keep a dict from being
// collected.
type crowds struct {
	last  any // a weak pointer, and its crowd: mostly one is filled at a time
	crowd *crowd
	all   map[any]*crowd
}

func (c *crowds) of(pointer any) *crowd {
	if c.last == pointer {
		return c.crowd
	}
	found := c.all[pointer]
	if found == nil {
		if c.all == nil {
			c.all = make(map[any]*crowd)
		}
		if len(c.all)%64 == 63 {
			c.sweep()
		}
		found = new(crowd)
		c.all[pointer] = found
	}
	c.last, c.crowd = pointer, found
	return found
}

// sweep drops the crowds of what is gone.
func (c *crowds) sweep() {
	for pointer := range c.all {
		gone := false
		switch p := pointer.(type) {
		case weak.Pointer[starlark.Dict]:
			gone = p.Value() == nil
		case weak.Pointer[starlark.Set]:
			gone = p.Value() == nil
		}
		if gone {
			delete(c.all, pointer)
		}
	}
}

// chosen is the hash of a key, if a program can choose it. Strings are hashed
// well enough.
func chosen(key starlark.Value) (hash uint32, ok bool) {
	switch key.(type) {
	case starlark.Int, starlark.Float, starlark.Tuple:
		h, err := key.Hash()
		return h, err == nil
	}
	return 0, false
}

// walk charges for the chain of key in a dict or set of n entries, and returns
// its crowd, if it is watched.
func (e *engine) walk(pointer func() any, n int, key starlark.Value) (c *crowd, hash uint32, err error) {
	if n < crowdFrom {
		return nil, 0, nil
	}
	hash, ok := chosen(key)
	if !ok {
		return nil, 0, nil
	}
	c = e.crowds.of(pointer())
	return c, hash, e.charge(c.excess(hash))
}

// lookup is dict[key]: the value, and whether there is one. It fails if key can
// be none.
func (e *engine) lookup(dict *starlark.Dict, key starlark.Value) (starlark.Value, bool, error) {
	if err := e.key(key); err != nil {
		return nil, false, err
	}
	if _, _, err := e.walk(func() any { return weak.Make(dict) }, dict.Len(), key); err != nil {
		return nil, false, err
	}
	return dict.Get(key)
}

// setKey is dict[key] = v.
func (e *engine) setKey(dict *starlark.Dict, key, v starlark.Value) error {
	if err := e.key(key); err != nil {
		return err
	}
	n := dict.Len()
	c, hash, err := e.walk(func() any { return weak.Make(dict) }, n, key)
	if err != nil {
		return err
	}
	err = dict.SetKey(key, v)
	if c != nil && dict.Len() > n {
		c.add(hash)
	}
	return err
}

// addKey is set.add(key).
func (e *engine) addKey(set *starlark.Set, key starlark.Value) error {
	if err := e.key(key); err != nil {
		return err
	}
	n := set.Len()
	c, hash, err := e.walk(func() any { return weak.Make(set) }, n, key)
	if err != nil {
		return err
	}
	err = set.Insert(key)
	if c != nil && set.Len() > n {
		c.add(hash)
	}
	return err
}

// member is key in set.
func (e *engine) member(set *starlark.Set, key starlark.Value) (bool, error) {
	if err := e.key(key); err != nil {
		return false, err
	}
	if _, _, err := e.walk(func() any { return weak.Make(set) }, set.Len(), key); err != nil {
		return false, err
	}
	return set.Has(key)
}
