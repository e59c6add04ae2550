// Package breaking compares two manifests in their effective form and says of
// each difference who it breaks. It must never know Go code, files, git or a
// clock: two manifests and a day go in, findings come out.
//
// Rules has one table of all there is to find. A rule knows its direction: an
// input that takes less breaks callers, an output that may be more breaks
// those who read it.
//
//	report := breaking.Compare(base, head, "2026-11-29")
//	for _, f := range report.Findings {
//		fmt.Println(f.Level, f.Rule.ID, f.Target(), f.Before, "→", f.After)
//	}
//
// The files go along with the comparison: compare.go pairs capabilities and
// types, capability.go and calls.go compare what stands beside schemas, and
// value.go, property.go, bounds.go and enum.go the schemas.
package breaking
