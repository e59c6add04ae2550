package operate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
	"github.com/capgen/capgen/runtime/host"
)

// Extension is the commands, for host.Options.Extension. None of them is a
// capability, and none takes an approval without a terminal.
func (s *Setup) Extension() host.Extension {
	x := host.Extension{
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&s.flags.key, "key", "", "approve, reject: sign with the key in this `file`")
			f.StringVar(&s.flags.agentKey, "agent-key", "", "approve, reject: sign with the key of this `id` in an ssh-agent; keys agent lists them")
			f.StringVar(&s.flags.agent, "ssh-agent", "", "`socket` of the ssh-agent")
			f.StringVar(&s.flags.reason, "reason", "", "reject, cancel: `why`, for whoever asked")
			f.StringVar(&s.flags.status, "status", "", "plans, jobs: only those with this `status`")
			f.IntVar(&s.flags.newest, "newest", 0, "jobs: only this `number` of them")
			f.Int64Var(&s.flags.tail, "tail", defaultTail, "logs: the last `bytes` of each")
			f.StringVar(&s.flags.name, "name", "", "keys new: the approver's `name` in the trust root")
			f.DurationVar(&s.flags.keep, "keep", 24*time.Hour, "clean: leave alone what ended within this `time`")
			f.StringVar(&s.flags.gone, "gone", "", "recover: give up the jobs of the host with this `id`, which is not there any more")
			f.Var(&s.flags.signers, "signer", "daemon: the account with this number may have this key sign, `UID=FILE`; may be repeated")
			f.Var(&s.flags.servers, "server-uid", "daemon: the account with this `number` lands plans; may be repeated")
			f.StringVar(&s.flags.log, "log", "", "daemon: keep approvals, and what they were spent on, in this `file`")
			f.StringVar(&s.flags.heads, "keep-heads", "", "daemon: append the heads of audit trails that servers hand over to this `file`")
			f.IntVar(&s.flags.agentUID, "agent-uid", -1, "doctor: the `number` of the account that agents have")
		},
		Variables: map[string]string{
			"state":               "CAPGEN_STATE",
			"trust-root":          "CAPGEN_TRUST_ROOT",
			"approval-daemon":     "CAPGEN_APPROVAL_DAEMON",
			"approval-daemon-uid": "CAPGEN_APPROVAL_DAEMON_UID",
			"job-uids":            "CAPGEN_JOB_UIDS",
			"max-jobs":            "CAPGEN_MAX_JOBS",
			"job-cgroup":          "CAPGEN_JOB_CGROUP",
			"key":                 "CAPGEN_APPROVAL_KEY",
			"ssh-agent":           "SSH_AUTH_SOCK",
		},
		Commands: []host.Command{
			{Name: "pending", Summary: "list the plans that wait for people", Run: s.pending},
			{Name: "plans", Summary: "list all plans, the newest first", Flags: []string{"status"}, Run: s.plans},
			{Name: "show", Arguments: "PLAN|JOB", Summary: "show what a plan does, or what has become of a job", Min: 1, Max: 1, Run: s.show},
			{Name: "approve", Arguments: "PLAN", Summary: "look at a plan, and sign an approval", Min: 1, Max: 1, Flags: []string{"key", "agent-key", "ssh-agent"}, Run: s.approve},
			{Name: "reject", Arguments: "PLAN", Summary: "end a plan for good", Min: 1, Max: 1, Flags: []string{"key", "agent-key", "ssh-agent", "reason"}, Run: s.reject},
			{Name: "jobs", Summary: "list all jobs, the newest first", Flags: []string{"status", "newest"}, Run: s.jobs},
			{Name: "logs", Arguments: "JOB", Summary: "print the ends of a job's logs", Min: 1, Max: 1, Flags: []string{"tail"}, Run: s.logs},
			{Name: "cancel", Arguments: "JOB", Summary: "have a job ended", Min: 1, Max: 1, Flags: []string{"reason"}, Run: s.cancel},
			{Name: superviseCommand, Arguments: "JOB", Summary: "supervise a job, as servers have it done", Min: 1, Max: 1, Hidden: true, Run: s.supervise},
			{Name: "recover", Summary: "bring interrupted landings and jobs to their end", Flags: []string{"gone"}, Run: s.recover},
			{Name: "clean", Summary: "remove what no plan and no job needs any more", Flags: []string{"keep"}, Run: s.clean},
			{Name: "keys new", Arguments: "FILE", Summary: "make a key to approve with", Min: 1, Max: 1, Flags: []string{"name"}, Run: s.newKey},
			{Name: "keys agent", Summary: "print the lines of the trust root for the keys of an ssh-agent", Flags: []string{"name", "ssh-agent"}, Run: s.agentKeys},
			{Name: "keys list", Summary: "list whose approvals count", Run: s.listKeys},
			{Name: "keys rotate", Summary: "make a new key for the tokens of plans", Run: s.rotateKeys},
			{Name: "audit export", Summary: "print the audit trail, for audit verify", Run: s.exportTrail},
			{Name: "daemon", Summary: "keep approvers' keys, under an account of its own", Flags: []string{"signer", "server-uid", "log", "keep-heads"}, Run: s.serve},
			{Name: "writable", Arguments: "PATH...", Summary: "say which paths this account can write", Min: 1, Max: -1, Run: s.writable},
		},
		Doctor: s.doctor,
	}
	for n, c := range x.Commands {
		x.Commands[n].Run = func(ctx context.Context, i host.Invocation) error { return plain(c.Run(ctx, i)) }
	}
	return x
}

// plain is err as people read it: a refusal's words first, its code behind them.
func plain(err error) error {
	r, ok := err.(*govern.Refusal)
	if joined, is := err.(interface{ Unwrap() []error }); !ok && is && len(joined.Unwrap()) == 1 {
		r, ok = joined.Unwrap()[0].(*govern.Refusal)
	}
	if !ok {
		return err
	}
	text := r.Message
	if r.Suggestion != "" {
		text += "; " + r.Suggestion
	}
	return fmt.Errorf("%s [%s]", text, r.Code)
}

// there refuses a state directory that is not there: only servers make one.
func (s *Setup) there() error {
	if s.state == "" {
		return errNoState()
	}
	if _, err := os.Lstat(s.state); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no state directory at %s: a server with this --state makes it", visible.Text(s.state))
	}
	return nil
}

// operator opens the state for a command that changes it. What was interrupted is
// a server's to bring to its end, or the command recover's; and a job that waits
// for its start is a server's alone, which has the flags for it.
func (s *Setup) operator(ctx context.Context, i host.Invocation) (*govern.Operator, *Service, error) {
	if err := s.there(); err != nil {
		return nil, nil, err
	}
	service, err := s.service(ctx, i.Env.Logger, func(o *govern.Options) { o.NoRecovery, o.Supervisor = true, nil })
	if err != nil {
		return nil, nil, err
	}
	return service.Operator(actor()), service, nil
}

// reader opens the state for a command that only reads: whoever may read the
// directory can use it.
func (s *Setup) reader(ctx context.Context, i host.Invocation) (*govern.Operator, *Service, error) {
	if err := s.there(); err != nil {
		return nil, nil, err
	}
	o, service, err := s.options(ctx, i.Env.Logger, true)
	if _, none := os.Lstat(filepath.Join(s.state, sqlite.FileName)); s.Store == nil && err != nil && errors.Is(none, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("there are no plans yet in the state directory at %s", visible.Text(s.state))
	}
	if err != nil {
		return nil, nil, err
	}
	operator, done, err := govern.OpenReadOnly(o)
	if err != nil {
		return nil, nil, errors.Join(err, service.Close())
	}
	service.close = append(service.close, done)
	return operator, service, nil
}

// actor is who sits at the terminal, for the audit trail.
func actor() audit.Actor {
	return audit.Actor{Kind: audit.ByCLI, UID: os.Getuid(), User: account(), PID: os.Getpid()}
}

// account is what the system calls this process's account; its number where it
// has no name.
func account() string {
	// Not user.Current: for a number without a name that may believe $USER.
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		return u.Username
	}
	return fmt.Sprint(os.Getuid())
}

// table writes rows in columns; no cell of them has a character that nobody
// sees.
func table(i host.Invocation, rows [][]string) error {
	w := tabwriter.NewWriter(i.Stdout, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		for n, cell := range row {
			row[n] = visible.Text(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}
