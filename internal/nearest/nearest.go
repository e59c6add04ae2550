package nearest

import "strings"

// MaxBytes is the longest name that is looked at: beyond it nobody mistyped a
// name, and the work is the product of both lengths.
const MaxBytes = 128

// Name returns the candidate that the fewest edits turn name into, or "" when
// more than a third of name would have to change. An edit inserts, deletes or
// replaces a byte or swaps two neighbours; case and underscores are free. Of
// equals the first in byte order wins, so that the answer does not depend on
// the order of the candidates. name itself is never the answer. Where none is that
// close, it is the only candidate that name abbreviates or continues: str is
// string, readonly is read.
func Name(name string, candidates []string) string {
	folded := fold(name)
	if folded == "" || len(name) > MaxBytes {
		return ""
	}
	best, limit := "", (len(folded)+2)/3
	for _, c := range candidates {
		if c == name || len(c) > MaxBytes {
			continue
		}
		d := distance(folded, fold(c), limit)
		if d < limit || d == limit && (best == "" || c < best) {
			best, limit = c, d
		}
	}
	if best == "" {
		return abbreviated(name, folded, candidates)
	}
	return best
}

// abbreviated returns the only candidate that folded begins or that begins
// folded, of which three bytes at least are common; "" for none or several.
func abbreviated(name, folded string, candidates []string) string {
	found := ""
	for _, c := range candidates {
		if c == name || len(c) > MaxBytes {
			continue
		}
		other := fold(c)
		if min(len(other), len(folded)) < 3 || !strings.HasPrefix(other, folded) && !strings.HasPrefix(folded, other) {
			continue
		}
		if found != "" && found != c {
			return ""
		}
		found = c
	}
	return found
}

func fold(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

// distance is the optimal string alignment distance, or more than limit where
// it exceeds that.
func distance(x, y string, limit int) int {
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		smallest := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			smallest = min(smallest, row[j])
		}
		if smallest > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
