package canon

// Report counts the values of an output that break a bound, a length, an enum,
// a pattern or a format of their schema. The zero Report has counted none.
type Report struct {
	// Breaches is how many checks failed; First is the first of them.
	Breaches int
	First    *Error
}

// Report makes w count in r what breaks its schema and write it all the same,
// if it is wire. What has no form stays an error: invalid UTF-8, numbers that
// are not finite, no value where one must be; and so do the limits.
func (w *Writer) Report(r *Report) {
	if w.wire {
		w.report = r
	}
}

// breach records that the value at hand breaks its schema, and tells whether
// that is an error.
func (w *Writer) breach(code Code, message string) bool {
	switch {
	case w.err != nil:
		return true
	case w.report == nil:
		w.fail(code, message)
		return true
	}
	if w.report.Breaches++; w.report.First == nil {
		w.report.First = &Error{Path: w.path(), Code: code, Message: message, Offset: -1}
	}
	return false
}
