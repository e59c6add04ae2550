package canon

// Nullable is a value or null. The zero Nullable is null. Where a member may
// also be absent it is an Optional[Nullable[T]]: absent, null and a value are
// three states, and no codec makes one of another.
type Nullable[T any] struct {
	// Value is meaningful only when Valid is true.
	Value T
	// Valid tells a value from null.
	Valid bool
}

// NotNull returns a Nullable that holds v.
func NotNull[T any](v T) Nullable[T] { return Nullable[T]{Value: v, Valid: true} }

// Null returns the Nullable that is null.
func Null[T any]() Nullable[T] { return Nullable[T]{} }

// Get returns the value and whether there is one.
func (n Nullable[T]) Get() (T, bool) { return n.Value, n.Valid }

// Or returns the value, or fallback for null.
func (n Nullable[T]) Or(fallback T) T {
	if n.Valid {
		return n.Value
	}
	return fallback
}
