package govern

import "context"

// Jobs are those of all subjects.
func (o *Operator) Jobs(ctx context.Context, f JobFilter) (JobPage, error) {
	return JobPage{}, notYet()
}

// Job is a job of any subject.
func (o *Operator) Job(ctx context.Context, id string) (Job, error) { return Job{}, notYet() }

// JobLogs are the last tail bytes of each log of a job of any subject.
func (o *Operator) JobLogs(ctx context.Context, id string, tail int64) (JobLogs, error) {
	return JobLogs{}, notYet()
}

// CancelJob asks for the end of a job of any subject.
func (o *Operator) CancelJob(ctx context.Context, id, reason string) (Job, error) {
	return Job{}, notYet()
}

// Watch looks once after the jobs that have not ended: what is queued is started,
// what is overdue, or has lost its supervisor, is ended.
func (s *Service) Watch(ctx context.Context) error { return nil }

// Supervise is the process that supervises a job, which the server has started:
// the last argument of Options.Supervisor is the job's id. It returns when the job
// has ended.
func Supervise(ctx context.Context, o Options, id string) error { return notYet() }
