package scope

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/capgen/capgen/runtime/govern/job/confine"
)

// Tier is what holds the processes of a scope.
type Tier string

// The tiers, the strongest first.
const (
	// Cgroup is a control group of version 2. No process leaves it that cannot
	// write to the groups beside it.
	Cgroup Tier = "cgroup"
	// Namespace is a namespace of process ids, whose first process is the keeper:
	// with it the kernel ends all, and nothing in it can signal what is outside.
	Namespace Tier = "namespace"
	// Tree is the processes that descend from the keeper. One that may signal its
	// keeper and what supervises it can end both, and is then beyond any proof.
	Tree Tier = "tree"
)

// Tiers are all of them, the strongest first.
func Tiers() []Tier { return []Tier{Cgroup, Namespace, Tree} }

var (
	// ErrUnsupported is the error for a tier that this system does not have.
	ErrUnsupported = errors.New("scope: not on this system")
	// ErrUnproved is the error where nobody can tell any more whether something of
	// a scope runs.
	ErrUnproved = errors.New("scope: it cannot be proved any more that nothing of it runs")
	// ErrGone is the error for a process that has ended.
	ErrGone = errors.New("scope: the process has ended")
	// ErrUnsure is the error of [Spawn] where nobody knows what came of it.
	ErrUnsure = errors.New("scope: it cannot be told whether it was started")
)

// Options are what a scope is made of.
type Options struct {
	Tier Tier
	// Cgroup is the delegated control group below which one is made; for that tier
	// only.
	Cgroup string
	// Memory in bytes and Processes bound a control group; 0 leaves it to who set
	// up the group above. The other tiers have neither.
	Memory    int64
	Processes int
	// Alive is a file that the keeper holds open as long as it lives, so that a
	// lock on its open file description lives as long; and to which it appends
	// [Emptied] once nothing of the scope runs. Nil is none.
	Alive *os.File
	// Alone says that this process has no children and will have none but the
	// keeper. It then takes over what a killed keeper leaves behind, and ends it.
	// Without it a killed keeper of tier Tree is [ErrUnproved].
	Alone bool
	// Stdout and Stderr are the first process's; nil is the null device, which it
	// reads.
	Stdout, Stderr *os.File

	patience time.Duration // with a keeper; 0 is the default
}

// Emptied is what a keeper leaves in Alive as the last thing it does.
const Emptied = "empty\n"

// Command is the first process of a scope. Nothing is added to it.
type Command struct {
	Path string   `json:"path"` // absolute
	Args []string `json:"args"` // the first is the name it goes by
	Env  []string `json:"env"`
	Dir  string   `json:"dir"` // absolute
	// Limits bound each process by itself.
	Limits Limits `json:"limits"`
	// Confine takes from it what it does not need; nil is nothing.
	Confine *confine.Spec `json:"confine,omitempty"`
}

// Limits are what one process may use (setrlimit(2)). Zero is no bound of its
// own; what bounds the scope as a whole is in Options.
type Limits struct {
	CPU    time.Duration `json:"cpu"`    // rounded up to seconds
	Memory int64         `json:"memory"` // bytes of address space
	File   int64         `json:"file"`   // bytes that a file which it writes may have
	Open   int           `json:"open"`   // files at a time
	// Processes counts all of the account with their threads, wherever they are in
	// its namespace of users, and does not bind root.
	Processes int `json:"processes"`
}

// maxCommand bounds a command as JSON: it has to fit one variable of an
// environment (execve(2)).
const maxCommand = 64 << 10

// Exit is how the first process of a scope ended.
type Exit struct {
	Code   int            // its status, -1 if a signal ended it
	Signal syscall.Signal // 0 if none did
	// CPU is the processor time of it and of those it waited for.
	CPU time.Duration
}

func (e Exit) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("signal %d (%s)", int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("status %d", e.Code)
}

// Handle is what any process needs to end a scope. It is made to be kept, as
// JSON, and holds only while the kernel runs.
type Handle struct {
	Tier   Tier     `json:"tier"`
	Keeper Identity `json:"keeper"`
	Cgroup string   `json:"cgroup,omitempty"` // the scope's own group
}

// Identity names a process so that no other is ever taken for it.
type Identity struct {
	Boot  string `json:"boot"` // the id of the running kernel
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // in ticks since boot (proc_pid_stat(5), field 22)
	// Type and File are the file handle of its pidfd (name_to_handle_at(2),
	// Linux 6.14), which no second process ever has. Without it PID and Start
	// together stand for it.
	Type int32  `json:"type,omitempty"`
	File []byte `json:"file,omitempty"`
}
