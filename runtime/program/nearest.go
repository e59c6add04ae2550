package program

import "strings"

// nearest returns the candidate closest to name by edit distance, ignoring
// case and underscores, or "" when none is close. The first of equals wins, so
// that the answer is the same every time.
func nearest(name string, candidates []string) string {
	const longest = 128 // bytes: beyond it nobody mistyped a name
	if len(name) > longest {
		return ""
	}
	name = fold(name)
	best, limit := "", (len(name)+2)/3
	for _, candidate := range candidates {
		if len(candidate) > longest {
			continue
		}
		if d := distance(name, fold(candidate), limit); d <= limit {
			best, limit = candidate, d-1
			if limit < 0 {
				break
			}
		}
	}
	return best
}

func fold(s string) string {
	return strings.ToLower(strings.ReplaceAll(s, "_", ""))
}

// distance is the number of edits (insert, delete, replace, swap neighbours)
// between x and y, or more than limit when it exceeds that.
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
