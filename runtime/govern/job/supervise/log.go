package supervise

// The logs of a job.
const (
	Stdout     = "candidate.stdout"
	Stderr     = "candidate.stderr"
	Supervisor = "supervisor"
)

// Logs are the names of all of them.
func Logs() []string { return []string{Stdout, Stderr, Supervisor} }

// Log is the end of one log as it may be served: absolute paths are written
// <path>, and what a reader cannot see is spelled out, but for line breaks and
// tabulators.
type Log struct {
	Name      string
	Size      int64 // bytes on disk
	Truncated bool  // Text is not all of it
	Text      string
}
