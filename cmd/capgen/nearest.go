package main

import "fmt"

// didYouMean is " (did you mean …?)" with the closest of known, or nothing
// when none is close.
func didYouMean(name string, known []string) string {
	if n := nearest(name, known); n != "" {
		return fmt.Sprintf(" (did you mean %s?)", n)
	}
	return ""
}

// nearest is the known name that the fewest edits turn name into, the first of
// equals; empty when that is more than a third of its length, or two.
func nearest(name string, known []string) string {
	if len(name) > 256 {
		return ""
	}
	best, bound := "", 1<<30
	for _, k := range known {
		if d := distance(name, k); d < bound && d <= max(2, len(k)/3) {
			best, bound = k, d
		}
	}
	return best
}

// distance is Levenshtein's, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
