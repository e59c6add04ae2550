package allowed

import "os"

// Test binaries are started as workers too.
var e = os.Getenv("E") // want `os.Getenv`
