package shelltest

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// patience is for how long the output is waited for that is still held open when
// cmd has ended.
const patience = 2 * time.Second

// Run runs cmd, which has not been started and leaves both outputs to Run, in a
// process group of its own where the system has them. When cmd has ended, or has
// not after limit, the whole group is killed. Besides what cmd.Run returns, it is
// an error if cmd did not end in time, and if it left a process that holds its
// output (exec.ErrWaitDelay).
func Run(cmd *exec.Cmd, limit time.Duration) (stdout, stderr string, err error) {
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, patience
	alone(cmd)
	if err := cmd.Start(); err != nil {
		return "", "", err
	}
	var late atomic.Bool
	timer := time.AfterFunc(limit, func() {
		late.Store(true)
		kill(cmd.Process)
	})
	err = cmd.Wait()
	timer.Stop()
	kill(cmd.Process)
	if late.Load() {
		err = errors.Join(fmt.Errorf("shelltest: killed after %s", limit), err)
	}
	return out.String(), errs.String(), err
}
