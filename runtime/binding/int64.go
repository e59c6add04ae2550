package binding

import "strconv"

// Int64Range is the bounds of an int64, both inclusive. ok is false where they
// are not what ParseCapability accepts.
func (s *Shape) Int64Range() (low, high int64, ok bool) {
	if s.Range == nil || s.Range.ExclusiveMin || s.Range.ExclusiveMax {
		return 0, 0, false
	}
	low, err := strconv.ParseInt(s.Range.Min, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	high, err = strconv.ParseInt(s.Range.Max, 10, 64)
	return low, high, err == nil
}
