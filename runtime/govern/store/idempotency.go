package store

import (
	"crypto/sha256"
	"errors"
)

// Scope is within what a key means one request: the steps of a capability are
// apart, and so are subjects.
type Scope struct {
	Subject    string // the flat form
	Capability string // its id
	Step       string // prepare or apply
}

// keyRow is one row of idempotency.
type keyRow struct {
	scope       Scope
	value       string
	requestHash [sha256.Size]byte
	plan        string
}

func (k *keyRow) columns() []any {
	return []any{text(&k.scope.Subject), text(&k.scope.Capability), text(&k.scope.Step), text(&k.value), fixed(k.requestHash[:]), text(&k.plan)}
}

func (k *keyRow) key() string { return k.value }

func (k *keyRow) check() error {
	var c checks
	c.text("the subject", k.scope.Subject, 1)
	c.text("the capability", k.scope.Capability, 1)
	c.text("the step", k.scope.Step, 1)
	c.text("the key", k.value, 1)
	c.id("the plan", k.plan)
	return c.err()
}

// Idempotent looks up what a key was first used for: the hash of that request,
// and its plan. ok tells whether it was used at all.
func (tx *Tx) Idempotent(scope Scope, key string) (requestHash [sha256.Size]byte, plan string, ok bool, err error) {
	k, err := one[keyRow](tx, "idempotency", `SELECT subject, capability, step, key, request_hash, plan FROM idempotency
		WHERE subject = $1 AND capability = $2 AND step = $3 AND key = $4`, scope.Subject, scope.Capability, scope.Step, key)
	if errors.Is(err, ErrNotFound) {
		return requestHash, "", false, nil
	}
	return k.requestHash, k.plan, err == nil, err
}

// RememberKey keeps what a key is used for; one that was used is [ErrExists].
// It is forgotten with its plan.
func (tx *Tx) RememberKey(scope Scope, key string, requestHash [sha256.Size]byte, plan string) error {
	k := keyRow{scope: scope, value: key, requestHash: requestHash, plan: plan}
	if err := k.check(); err != nil {
		return invalid("key %q: %w", key, err)
	}
	if _, err := tx.Plan(plan); err != nil {
		return err
	}
	return tx.insert(`INSERT INTO idempotency (subject, capability, step, key, request_hash, plan) VALUES ($1, $2, $3, $4, $5, $6)`,
		scope.Subject, scope.Capability, scope.Step, key, requestHash[:], plan)
}
