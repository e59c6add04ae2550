package scope

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/worker/cgroup"
)

// End ends what is left of a scope whose opener is gone, and proves that nothing
// of it runs: nil. It may be called again, and by several processes at once.
// emptied tells whether [Emptied] stands in the scope's Alive; it is asked when
// the keeper is gone.
//
// A tree whose keeper was killed as well is [ErrUnproved].
func (h Handle) End(ctx context.Context, emptied func() (bool, error)) error {
	boot, err := bootID()
	if err != nil {
		return fmt.Errorf("scope: %w", err)
	}
	if h.Keeper.Boot != boot {
		return nil // another kernel: nothing lived through that
	}
	if err := h.endKeeper(ctx); err != nil {
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

// endKeeper returns when the keeper has ended. That of a tree ends by itself once
// its opener is gone, and is not killed: only it can end the tree. If it was
// stopped, it goes on.
func (h Handle) endKeeper(ctx context.Context) error {
	keeper, err := h.Keeper.Open()
	if errors.Is(err, ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer keeper.Close()
	if h.Tier == Tree {
		unix.PidfdSendSignal(keeper.fd, unix.SIGCONT, nil, 0)
	} else if err := keeper.Kill(); err != nil && !errors.Is(err, ErrGone) {
		return fmt.Errorf("scope: kill the keeper: %w", err)
	}
	if err := keeper.Await(ctx); err != nil {
		return fmt.Errorf("scope: the keeper does not end: %w", err)
	}
	return nil
}
