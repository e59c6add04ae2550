package runtime_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/capgen/capgen/runtime"
)

// ledger is a system that does nothing twice under one key. A real one keeps
// what it did in its own storage, in the same transaction.
type ledger struct{ done map[string]string }

var errOtherArguments = errors.New("the same key with other arguments")

func (l *ledger) addOnce(ctx context.Context, add func()) error {
	key, ok := runtime.CallKeyFromContext(ctx)
	if !ok {
		add() // the client may not repeat it
		return nil
	}
	switch before, again := l.done[key.Key]; {
	case !again:
		l.done[key.Key] = key.ArgumentsHash
		add()
	case before != key.ArgumentsHash:
		return errOtherArguments
	}
	return nil
}

func ExampleCallKeyFromContext() {
	l := &ledger{done: map[string]string{}}
	// A handler's context; of an execution without a key, here.
	err := l.addOnce(context.Background(), func() { fmt.Println("added") })
	fmt.Println(err)
	// Output:
	// added
	// <nil>
}
