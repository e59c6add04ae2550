package host

// nearest returns the name that a mistyped one most likely means, or "" when
// none is close: at most one mistake in three letters.
func nearest(typed string, names []string) string {
	const maxTyped = 64 // no name is longer, and the work is the product of both lengths
	if len(typed) > maxTyped {
		return ""
	}
	best, least := "", len(typed)/3+2
	for _, name := range names {
		if d := distance(typed, name); d < least || d == least && best != "" && name < best {
			best, least = name, d
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements of bytes that
// turn a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
