// Package exposition counts and measures, and writes what came of it in the
// text format that Prometheus scrapes, version 0.0.4. It must never know what
// is counted; labels are for its caller to bound.
//
//	var set exposition.Set
//	calls := set.Counters("tool_calls_total", "Calls of tools.", "tool")
//	calls.Inc("execute")
//	set.WriteTo(w) // tool_calls_total{tool="execute"} 1
//
// Nothing of it runs while it is initialized, which every worker of a host
// would pay for.
package exposition
