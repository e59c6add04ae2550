package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

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

// authenticate is what a handler does before it sends a request.
func authenticate(ctx context.Context, request *http.Request) error {
	store, ok := runtime.CredentialFromContext(ctx, "store")
	if !ok {
		return errors.New("this deployment has no credential called store")
	}
	token, err := store.For(request.URL) // an error for any other host
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return nil
}

func ExampleCredentialFromContext() {
	ctx := runtime.WithCredentials(context.Background(), runtime.NewCredential("store", "store.example.com", "t-1"))
	for _, url := range []string{"https://store.example.com/records", "https://elsewhere.example.com/"} {
		request, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(authenticate(ctx, request), request.Header.Get("Authorization"))
	}
	// Output:
	// <nil> Bearer t-1
	// runtime: credential "store" is not for host "elsewhere.example.com"
}
