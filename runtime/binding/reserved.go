package binding

import (
	"slices"
	"strings"
)

// ReservedRoots returns the first segments that no capability name may have,
// sorted: every name of the Starlark universe, the builtins and globals of the
// program language, the modules that programs may import one day, and the
// directories of generated code that are no namespace.
func ReservedRoots() []string {
	names := strings.Fields(reservedRoots)
	slices.Sort(names)
	return slices.Compact(names)
}

// IsReservedRoot reports whether no capability name may start with root.
func IsReservedRoot(root string) bool {
	_, found := slices.BinarySearch(ReservedRoots(), root)
	return found
}

const reservedRoots = `
	False None True abs all any bool bytes chr dict dir enumerate fail float getattr hasattr hash int
	len list max min ord print range repr reversed set sorted str tuple type zip

	sum json math data parallel attempt pages change run result main
	map filter round isinstance pow divmod next iter callable object super

	re datetime collections itertools functools statistics typing asyncio dataclasses time

	types catalog lock
`
