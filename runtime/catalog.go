package runtime

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/capgen/capgen/internal/hints"
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/search"
	"github.com/capgen/capgen/runtime/shaping"
)

// Bounds of a catalog.
const (
	// MaxCapabilities of one catalog, disabled ones included.
	MaxCapabilities = 10_000
	// MaxCatalogBytes of all texts of a catalog.
	MaxCatalogBytes = 32 << 20
	// MaxOldNames of one capability.
	MaxOldNames = 16
	// MaxNameBytes of a dotted name.
	MaxNameBytes = 64
)

// entry is one enabled capability.
type entry struct {
	info Info
	bind binder
	keep *shaping.Keep // nil for all of a result
	// errors are the texts of the declared ones.
	errors map[ErrorCode]string
	// unfinished are the calls that are in the host's code.
	unfinished atomic.Int64
}

// catalog is the immutable set of enabled capabilities.
type catalog struct {
	entries []*entry // by name
	ids     map[string]*entry
	names   map[string]*entry
	renamed map[string]string // old names to names
	table   []byte            // what workers get
	digest  string            // of table
	index   *search.Index
	hints   Hints
	// namespaces count the entries of each, by name.
	namespaces []NamespaceCount
}

func (c *catalog) byID(id string) *entry     { return c.ids[id] }
func (c *catalog) byName(name string) *entry { return c.names[name] }

// newCatalog checks the capabilities and leaves out the disabled ones. It
// reports every problem.
func newCatalog(capabilities []Capability, disabled []string) (*catalog, []error) {
	checker := &catalogChecker{
		ids: map[string]int{}, names: map[string]int{}, namespaces: map[string]string{},
		reserved: binding.ReservedRoots(), tools: map[string]bool{},
	}
	for i := range capabilities {
		checker.check(i, capabilities[i])
	}
	off := checker.disabled(disabled)
	if len(checker.problems) > 0 {
		return nil, checker.problems
	}

	c := &catalog{ids: map[string]*entry{}, names: map[string]*entry{}, renamed: map[string]string{}, hints: Hints{ReadOnly: true, Idempotent: true}}
	for _, capability := range capabilities {
		if off[capability.info.ID] {
			continue
		}
		e := &entry{info: capability.info, bind: capability.bind, errors: declaredErrors(capability.info)}
		e.keep, _ = e.info.Result.check()
		if e.info.Description == "" {
			e.info.Description = e.info.Summary
		}
		c.entries = append(c.entries, e)
		c.ids[e.info.ID], c.names[e.info.Name] = e, e
		for _, old := range e.info.Was {
			c.renamed[old] = e.info.Name
		}
		c.hints = c.hints.Join(hintsOf(e.info))
	}
	sort.Slice(c.entries, func(i, j int) bool { return c.entries[i].info.Name < c.entries[j].info.Name })

	c.namespaces = countNamespaces(c.entries)
	var bindings []binding.Entry
	var documents []search.Document
	for _, e := range c.entries {
		bindings = append(bindings, binding.Entry{Name: e.info.Name, ID: e.info.ID, Binding: e.info.Binding, Was: e.info.Was})
		documents = append(documents, search.Document{Name: e.info.Name, Entry: e.info.Search, Was: e.info.Was, Deprecated: e.info.Deprecated != nil})
	}
	c.table = binding.EncodeTable(bindings)
	table, err := binding.ParseTable(c.table)
	if err != nil {
		return nil, []error{fmt.Errorf("binding table: %w", err)}
	}
	c.digest = table.Digest()
	c.index = search.New(documents)
	return c, nil
}

func countNamespaces(entries []*entry) []NamespaceCount {
	counts := map[string]int{}
	for _, e := range entries {
		counts[namespaceOf(e.info.Name)]++
	}
	list := []NamespaceCount{}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, NamespaceCount{Name: name, Count: counts[name]})
	}
	return list
}

func namespaceOf(name string) string { return name[:max(0, strings.LastIndexByte(name, '.'))] }

// Hints are the four MCP tool annotations, derived from what the manifest
// declares; nobody writes them.
type Hints = hints.Hints

func hintsOf(info Info) Hints {
	return hints.Of(string(info.Effect), string(info.Idempotency), string(info.World))
}
