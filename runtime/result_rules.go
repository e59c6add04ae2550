package runtime

// ResultRules say what of a result reaches a program. The zero ResultRules
// deliver all of one that its output schema allows, and none of any other.
type ResultRules struct {
	// Report delivers a result that breaks a bound, a length, an enum, a
	// pattern or a format of its schema, and counts it in the receipt. What
	// has no form or passes a limit stays a failure.
	Report bool
}
