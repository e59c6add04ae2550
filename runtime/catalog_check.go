package runtime

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/binding"
)

// catalogChecker finds what is wrong with a set of capabilities. Generated
// code passes; the checks are for capabilities that were put together by hand
// or generated from several manifests.
type catalogChecker struct {
	problems   []error
	ids, names map[string]int
	namespaces map[string]string // namespace → a capability in it
	bytes      int
	reserved   []string
	tools      map[string]bool
}

func (c *catalogChecker) fail(name, format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("capability %s: %s", quoted(name), fmt.Sprintf(format, args...)))
}

func (c *catalogChecker) check(i int, capability Capability) {
	info := capability.info
	if capability.bind == nil {
		c.problems = append(c.problems, fmt.Errorf("capability %d: the zero Capability: make one with NewCapability", i))
		return
	}
	if i == MaxCapabilities {
		c.problems = append(c.problems, fmt.Errorf("more than %d capabilities", MaxCapabilities))
	}
	if i >= MaxCapabilities {
		return
	}
	c.checkName(info.Name)
	c.checkIdentity(i, info)
	c.checkTexts(info)
	c.checkErrors(info)
	switch info.Effect {
	case EffectRead, EffectWrite, EffectDestroy:
	default:
		c.fail(info.Name, "effect %s cannot be dispatched by this version", quoted(string(info.Effect)))
	}
	switch info.Idempotency {
	case IdempotencyNatural, IdempotencyKey, IdempotencyNone:
	default:
		c.fail(info.Name, "idempotency %s is none of natural, key, none", quoted(string(info.Idempotency)))
	}
	switch info.World {
	case WorldClosed, WorldOpen:
	default:
		c.fail(info.Name, "world %s is neither closed nor open", quoted(string(info.World)))
	}
	if problem := info.Call.check(info); problem != "" {
		c.fail(info.Name, "%s", problem)
	}
	if _, problem := info.Result.check(); problem != "" {
		c.fail(info.Name, "%s", problem)
	}
	if err := info.Tool.check(c.tools); err != nil {
		c.fail(info.Name, "%v", err)
	}
	if b, err := binding.ParseCapability(info.Binding); err != nil {
		c.fail(info.Name, "binding: %v", err)
	} else if b.ID != info.ID || b.Name != info.Name {
		c.fail(info.Name, "binding is for %s", quoted(b.ID))
	}
}

func (c *catalogChecker) checkName(name string) {
	if len(name) > MaxNameBytes || !binding.ValidName(name) {
		c.fail(name, "a name is two or more segments joined by dots, each a lower-case letter and then lower-case letters, digits or _, of at most %d bytes in all", MaxNameBytes)
		return
	}
	if root, _, _ := strings.Cut(name, "."); slices.Contains(c.reserved, root) && !slices.Contains(binding.FamilyNames(), name) {
		c.fail(name, "the namespace %s is reserved for the program language", root)
	}
	for ns := namespaceOf(name); ns != ""; ns = namespaceOf(ns) {
		if _, ok := c.names[ns]; ok {
			c.fail(name, "its namespace %s is a capability", quoted(ns))
		}
		c.namespaces[ns] = name
	}
	if other, ok := c.namespaces[name]; ok {
		c.fail(name, "is the namespace of %s", quoted(other))
	}
}

func (c *catalogChecker) checkIdentity(i int, info Info) {
	if info.ID == "" || strings.TrimSpace(info.ID) != info.ID {
		c.fail(info.Name, "the id %s is empty or has space around it", quoted(info.ID))
	}
	if _, ok := c.ids[info.ID]; ok {
		c.fail(info.Name, "the id %s is taken", quoted(info.ID))
	}
	if _, ok := c.names[info.Name]; ok {
		c.fail(info.Name, "the name is taken")
	}
	c.ids[info.ID], c.names[info.Name] = i, i
}

func (c *catalogChecker) checkTexts(info Info) {
	if strings.TrimSpace(info.Summary) == "" {
		c.fail(info.Name, "no summary")
	}
	if len(info.Was) > MaxOldNames {
		c.fail(info.Name, "%d old names, at most %d", len(info.Was), MaxOldNames)
	}
	size := 0
	for _, text := range []string{info.ID, info.Name, info.Summary, info.Description, info.Signature, info.Binding, info.Input, info.Output, info.Example,
		info.Search.Name, info.Search.Namespace, info.Search.Phrases, info.Search.Summary, info.Search.Description,
		info.Search.ParameterNames, info.Search.ParameterDescriptions} {
		if !utf8.ValidString(text) {
			c.fail(info.Name, "a text is not valid UTF-8")
		}
		size += len(text)
	}
	if info.Tool != nil {
		size += len(info.Tool.Name) + len(info.Tool.Input) + len(info.Tool.Output)
	}
	for _, e := range info.Errors {
		size += len(e.Code) + len(e.Text)
	}
	before := c.bytes
	if c.bytes += size; c.bytes > MaxCatalogBytes && before <= MaxCatalogBytes {
		c.fail(info.Name, "the texts of the catalog pass %d bytes", MaxCatalogBytes)
	}
}

// disabled turns the option into a set and refuses ids that are not there.
func (c *catalogChecker) disabled(ids []string) map[string]bool {
	off := map[string]bool{}
	for _, id := range ids {
		if _, ok := c.ids[id]; !ok {
			c.problems = append(c.problems, fmt.Errorf("disabled capability %s: no capability has that id", quoted(id)))
		}
		if off[id] {
			c.problems = append(c.problems, fmt.Errorf("disabled capability %s: named twice", quoted(id)))
		}
		off[id] = true
	}
	return off
}
