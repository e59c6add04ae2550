// Package gate fails a benchmark whose measured code is slower than a control
// by more than a factor. It must never know what is measured, and knows no
// target in seconds: those depend on the machine.
//
//	func BenchmarkGateSearch(b *testing.B) {
//		gate.Ratio(b, 5, func() { search() }, func() { scan() })
//	}
//
// Gates are benchmarks called BenchmarkGate…, so that no unit test is timed;
// make bench-gate runs them, and make bench reports their ratios with all else.
package gate
