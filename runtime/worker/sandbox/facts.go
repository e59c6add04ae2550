package sandbox

// Fact is one thing about this system that a sandbox depends on, for people
// who wonder why a layer is missing.
type Fact struct{ Name, Value string }
