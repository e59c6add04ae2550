package search

// Scan prepares a sum over all postings that a query asks for, in a map.
func Scan(x *Index, query string) func() map[int32]float32 {
	list := x.plan(query).asked
	return func() map[int32]float32 {
		sums := map[int32]float32{}
		for _, a := range list {
			for _, p := range a.postings {
				sums[p.document] += p.impact
			}
		}
		return sums
	}
}
