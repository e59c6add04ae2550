package govern

import "time"

// effectRun is the effect of a capability that executes reviewed candidate code.
const effectRun = "run"

// Run is candidate code as it is to run.
type Run struct {
	// Summary is a line that approvers see, of at most MaxSummaryBytes.
	Summary string
	// Files are what the candidate can read, the runner's entry among them.
	Files []File
	// Arguments is the JSON object that it is given; nil is the capability's own
	// arguments, as they are.
	Arguments []byte
}

// DefaultMaxJobs is how many runs there may be at a time where a host does not
// say.
const DefaultMaxJobs = 4

// RunLimits bound a run. Generated terms set all of them; none may be zero.
type RunLimits struct {
	// Wall is how long it may take, CPU how much processor time one of its
	// processes may use.
	Wall, CPU time.Duration
	// Memory is bytes of each process, Output of what it writes to its streams
	// together, Result of its result.
	Memory, Output, Result int64
	// Processes is how many it may have at a time, Parallel how many runs of the
	// capability there may be at a time.
	Processes, Parallel int
}

// Started is a run that people approved.
type Started struct {
	Job, Plan string
	State     string // as in Job, now
}

// Job is a run as its owner, or an operator, sees it.
type Job struct {
	Job, Plan  string
	Owner      string
	Capability string // name
	State      string // of job.States; for operators altered, of a row that is not what was written
	// Failure tells apart why it did not succeed, Message says it in a line; what
	// of it comes from the candidate is escaped.
	Failure, Message string
	// Progress is the candidate's own line, made visible.
	Progress string
	// Started is when the candidate began, Ended when all was over, Heartbeat when
	// its supervisor was last seen; zero before. Deadline is when it is ended.
	Created, Started, Ended, Heartbeat, Deadline time.Time
	Runner, Sandbox, Scope                       string
	// AlreadyEnded tells, of CancelJob, that there was nothing to cancel.
	AlreadyEnded bool
}

// unseenAfter is the age of a heartbeat from which on it is pointed out: one comes
// about every second.
const unseenAfter = 10 * time.Second

// Unseen is for how long, by now, nobody has seen the supervisor of a job that has
// begun and not ended; 0 where that is no more than a few seconds.
func (j Job) Unseen(now time.Time) time.Duration {
	seen := j.Heartbeat
	if seen.IsZero() {
		seen = j.Started // and has not come to its first one
	}
	age := now.Sub(seen)
	if seen.IsZero() || !j.Ended.IsZero() || age <= unseenAfter {
		return 0
	}
	return age.Truncate(time.Second)
}

// JobFilter chooses jobs. The zero value is the first page of all.
type JobFilter struct {
	State      string // of job.States, or active
	Capability string // id
	Limit      int    // at most MaxPage; zero is DefaultPage
	After      string // id of the last one of the page before
}

// JobPage is jobs, the newest first. Next is for After, empty at the end.
type JobPage struct {
	Jobs []Job
	Next string
}

// JobResult is what a job that succeeded came to.
type JobResult struct {
	Job, State string
	SHA256     string // of Result, in hexadecimal
	Result     []byte // canonical JSON
	Report     string // Markdown
}

// JobLog is the end of one log. Truncated tells that it is not all of it.
type JobLog struct {
	Name      string
	Size      int64 // bytes on disk
	Truncated bool
	Text      string
}

// JobLogs are the logs of a job.
type JobLogs struct {
	Job, State string
	Logs       []JobLog
}
