package schema

import "github.com/capgen/capgen/internal/nearest"

// nearestName is nearest.Name within a budget of comparisons, which it counts
// down: where it does not last for all candidates, none is named.
func nearestName(name string, candidates []string, budget *int) string {
	if *budget < len(candidates) {
		*budget = 0
		return ""
	}
	*budget -= len(candidates)
	return nearest.Name(name, candidates)
}
