package govern

import "os"

// environment is that of supervisors: the server's own, as they are the same
// program and open the same state. Nothing of it is looked at here, and candidates
// get none of it.
func environment() []string { return os.Environ() }
