package codegen

// EnumNamesDiffer tells whether the values of an enum can be constants of one
// Go type: whether each would have a name of its own. Where they cannot,
// Generate refuses the enum.
func EnumNamesDiffer(values []string) bool {
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		seen[enumName(v)] = true
	}
	return len(seen) == len(values)
}
