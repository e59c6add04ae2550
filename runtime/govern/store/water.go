package store

// waterRow is the high water of the clock, as the meta row keeps it.
type waterRow struct{ at int64 }

func (w *waterRow) columns() []any { return []any{whole(&w.at)} }

func (w *waterRow) key() string { return "1" }

func (w *waterRow) check() error {
	var c checks
	c.that(w.at >= 0, "the high water is %d", w.at)
	return c.err()
}

// HighWater is the largest instant that was ever raised, 0 if none was: a clock
// that tells much less has been set back.
func (tx *Tx) HighWater() (int64, error) {
	w, err := one[waterRow](tx, "meta", `SELECT high_water FROM meta WHERE one = 1`)
	return w.at, err
}

// RaiseHighWater keeps the instant at, if it is larger than any before.
func (tx *Tx) RaiseHighWater(at int64) error {
	_, err := tx.exec(`UPDATE meta SET high_water = $1 WHERE one = 1 AND high_water < $1`, at)
	return err
}
