package schema

// maxNearest is the longest name, in bytes, for which a nearest one is sought.
const maxNearest = 64

// nearestName returns the candidate with the smallest edit distance to name,
// the first in byte order among equals, or "" when none is close: a third of
// the name may differ. Without a close one it is the only candidate that name
// begins, or that begins name: str is string, readonly is read. budget counts comparisons down; at zero nothing is
// sought any more.
func nearestName(name string, candidates []string, budget *int) string {
	if name == "" || len(name) > maxNearest {
		return ""
	}
	limit := max(1, len(name)/3)
	best, bestDistance := "", limit+1
	for _, c := range candidates {
		if c == name || len(c) > maxNearest || abs(len(c)-len(name)) > limit {
			continue
		}
		if *budget <= 0 {
			return best
		}
		*budget--
		d := editDistance(name, c)
		if d < bestDistance || (d == bestDistance && d <= limit && c < best) {
			best, bestDistance = c, d
		}
	}
	if best == "" {
		best = abbreviated(name, candidates)
	}
	return best
}

// abbreviated returns the only candidate that is the beginning of name or has
// name as its beginning, of three bytes at least; "" for none or several.
func abbreviated(name string, candidates []string) string {
	found := ""
	for _, c := range candidates {
		if short, long := min(len(c), len(name)), max(len(c), len(name)); short < 3 || short == long || c[:short] != name[:short] {
			continue
		}
		if found != "" && found != c {
			return ""
		}
		found = c
	}
	return found
}

// editDistance is the optimal string alignment distance in bytes: insertions,
// deletions, substitutions and swaps of neighbours cost one.
func editDistance(a, b string) int {
	var rows [3][maxNearest + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if fold(a[i-1]) == fold(b[j-1]) {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// fold makes case free: maxlength is nearest to maxLength, not to minLength.
func fold(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
