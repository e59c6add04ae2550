package canon

// Optional is a value that may be absent. The zero Optional is absent.
type Optional[T any] struct {
	// Value is meaningful only when Present is true.
	Value T
	// Present tells whether a value was given.
	Present bool
}

// Some returns an Optional that holds v.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Present: true} }

// Get returns the value and whether it is present.
func (o Optional[T]) Get() (T, bool) { return o.Value, o.Present }

// Or returns the value, or fallback when it is absent.
func (o Optional[T]) Or(fallback T) T {
	if o.Present {
		return o.Value
	}
	return fallback
}

// Count is how many of the optional members are present.
func Count(present ...bool) int {
	n := 0
	for _, p := range present {
		if p {
			n++
		}
	}
	return n
}
