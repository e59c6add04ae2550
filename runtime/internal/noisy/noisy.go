// Package noisy prints to standard output while it is initialized, as careless
// dependencies do. Tests of runtime/worker and of the guard link it. It must never
// be imported by anything else.
package noisy

import "fmt"

// Printed is how many bytes went out; its initializer is the point.
//
//capgenvet:allow quietinit stands for dependencies that do it; only tests link it
var Printed, _ = fmt.Println("a package init printed this")
