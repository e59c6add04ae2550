package bearer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
)

const (
	// refreshAfter is when a key set is fetched anew although its key is known:
	// a key that the issuer withdrew is not good for longer.
	refreshAfter = 15 * time.Minute
	// keepFor is how long keys are good while the issuer cannot be reached.
	keepFor = 6 * time.Hour
	// fetchEvery is how often an issuer is asked at most, however many tokens
	// with unknown keys arrive. A new key is known after this time at the
	// latest.
	fetchEvery = 10 * time.Second
)

// errNoKeys: whether the token is good could not be found out.
var errNoKeys = errors.New("bearer: the issuer's keys cannot be had")

// keys is a key set as keyfunc reads it. One request fetches it, with those
// that wait for it; nothing runs in between.
type keys struct {
	*jwkset.MemoryJWKSet
	source source
	now    func() time.Time

	mu       sync.Mutex
	fetching chan struct{} // closed when the fetch that runs has ended; nil: none runs
	fetched  time.Time     // when the set that is kept was asked for
	asked    time.Time     // when the last fetch ended, good or not
	failure  error         // of the last fetch
}

func newKeys(from source, now func() time.Time) *keys {
	return &keys{MemoryJWKSet: jwkset.NewMemoryStorage(), source: from, now: now}
}

// KeyRead implements jwkset.Storage: the key with this id, of a set that is
// fresh enough. It waits for at most one fetch.
func (k *keys) KeyRead(ctx context.Context, id string) (jwkset.JWK, error) {
	for waited := false; ; waited = true {
		k.mu.Lock()
		now := k.now()
		age := now.Sub(k.fetched)
		key, err := k.MemoryJWKSet.KeyRead(ctx, id)
		known := err == nil && !k.fetched.IsZero() && age < keepFor
		switch {
		case known && age < refreshAfter:
			k.mu.Unlock()
			return key, nil
		case waited || known && k.fetching != nil || k.fetching == nil && !k.asked.IsZero() && now.Sub(k.asked) < fetchEvery:
			failure := k.failure
			k.mu.Unlock()
			switch {
			case known:
				return key, nil
			case failure != nil:
				return jwkset.JWK{}, fmt.Errorf("%w: %.300v", errNoKeys, failure)
			}
			return jwkset.JWK{}, errors.New("no key with this kid")
		}
		done := k.fetching
		if done == nil {
			done = make(chan struct{})
			k.fetching = done
			k.mu.Unlock()
			k.fetch(ctx, now, done)
			continue
		}
		k.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return jwkset.JWK{}, fmt.Errorf("%w: %w", errNoKeys, context.Cause(ctx))
		}
	}
}

// fetch asks the issuer. A client that goes away does not end it: with that, it
// could keep a new key from ever being known.
func (k *keys) fetch(ctx context.Context, began time.Time, done chan struct{}) {
	failure := errors.New("the fetch broke") // unless it comes to its end
	var set []jwkset.JWK
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if failure == nil {
			k.fetched = began
		}
		k.asked, k.failure, k.fetching = k.now(), failure, nil
		close(done)
	}()
	if set, failure = k.source.load(context.WithoutCancel(ctx)); failure == nil {
		failure = k.KeyReplaceAll(ctx, set)
	}
}
