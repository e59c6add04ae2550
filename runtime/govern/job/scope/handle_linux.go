package scope

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/worker/cgroup"
)

// End ends what is left of a scope whose opener is gone, and proves that nothing
// of it runs: nil. It may be called again, and by several processes at once.
// emptied tells whether [Emptied] stands in the scope's Alive; it is asked when
// the keeper is gone.
//
// A tree whose keeper was killed as well, or is kept from ending, is [ErrUnproved].
// Of a group whose keeper was killed, or had to be, it is proved of the group alone:
// who could write to the groups beside it may have left it before.
func (h Handle) End(ctx context.Context, emptied func() (bool, error)) error {
	return h.end(ctx, defaultPatience, emptied)
}

func (h Handle) end(ctx context.Context, patience time.Duration, emptied func() (bool, error)) error {
	boot, err := bootID()
	if err != nil {
		return fmt.Errorf("scope: %w", err)
	}
	if h.Keeper.Boot != boot {
		return nil // another kernel: nothing lived through that
	}
	if err := h.endKeeper(ctx, patience); err != nil {
		return err
	}
	switch h.Tier {
	case Namespace:
		return nil // its first process has ended, which it does after all others
	case Cgroup:
		g, err := cgroup.Reopen(h.Cgroup)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it is removed only when it is empty
		}
		if err != nil {
			return fmt.Errorf("scope: %w", err)
		}
		return endGroup(ctx, g)
	case Tree:
		is, err := emptied()
		if err != nil {
			return fmt.Errorf("scope: %w", err)
		}
		if is {
			return nil
		}
	}
	return ErrUnproved
}

// treeRest is how many times as long the keeper of a tree has as that of a group,
// which is not needed.
const treeRest = 4

// endKeeper returns when the keeper has ended. Those of a tree and of a group end by
// themselves once their opener is gone, and end all that descends from them before,
// wherever that is. If they were stopped, they go on. One that does not end in its
// time is killed if it is a group's; that of a tree is not: only it can end the tree.
func (h Handle) endKeeper(ctx context.Context, patience time.Duration) error {
	keeper, err := h.Keeper.Open()
	if errors.Is(err, ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer keeper.Close()
	if h.Tier == Tree {
		patience *= treeRest
	}
	if h.Tier != Namespace {
		waiting, stop := context.WithTimeout(ctx, patience)
		err := until(waiting, func() bool {
			unix.PidfdSendSignal(keeper.fd, unix.SIGCONT, nil, 0) // again: somebody may go on stopping it
			return keeper.Dead()
		})
		stop()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("scope: the keeper does not end: %w", err)
		case h.Tier == Tree:
			return fmt.Errorf("%w: its keeper does not end", ErrUnproved)
		}
	}
	if err := keeper.Kill(); err != nil && !errors.Is(err, ErrGone) {
		return fmt.Errorf("scope: kill the keeper: %w", err)
	}
	if err := keeper.Await(ctx); err != nil {
		return fmt.Errorf("scope: the keeper does not end: %w", err)
	}
	return nil
}
