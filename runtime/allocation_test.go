package runtime

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/capgen/capgen/authz"
)

// crowd is a catalog of n capabilities.
func crowd(n int) []Capability {
	list := []Capability{NewCapability(lookupInfo(), lookup)}
	for i := 1; i < n; i++ {
		list = append(list, named(fmt.Sprintf("crowd%d.member%d", i/100, i), lookup))
	}
	return list
}

// What an execution and a native call allocate on the host does not depend on
// how many capabilities there are.
func TestAllocationsDoNotGrowWithTheCatalog(t *testing.T) {
	sizes := []int{10, 1000, 10_000}
	if !*soak {
		sizes = []int{10, 3000}
	}
	const calls, runs = 100, 20
	var perExecution, perCall []uint64
	for _, n := range sizes {
		s := build(t, Options{}, crowd(n)...)
		measure := func(source string) uint64 {
			var before, after runtime.MemStats
			for i := range runs + 2 {
				if i == 2 { // after what happens once
					runtime.ReadMemStats(&before)
				}
				if _, err := s.Execute(t.Context(), authz.Local(), source); err != nil {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			return (after.Mallocs - before.Mallocs) / runs
		}
		none, many := measure(lookups(0)), measure(lookups(calls))
		perExecution, perCall = append(perExecution, none), append(perCall, (many-none)/calls)
		t.Logf("%d capabilities: %d allocations an execution, %d a call", n, none, (many-none)/calls)
	}
	for i := range sizes {
		if perExecution[i] > perExecution[0]*11/10+5 || perCall[i] > perCall[0] {
			t.Errorf("with %d capabilities %d allocations an execution and %d a call; with %d they are %d and %d",
				sizes[i], perExecution[i], perCall[i], sizes[0], perExecution[0], perCall[0])
		}
	}
}
