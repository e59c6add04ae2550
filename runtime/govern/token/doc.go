// Package token makes and checks the bearer texts that a plan's requester hands
// back: that this store issued them, for this purpose, about this object, and
// that they are not too old. It must never know what the object is, and it
// keeps no state: that a text is used once is the store's to see to.
//
// A token authenticates its issuer to itself, so that a message authentication
// code does. It is no approval: whoever holds the secrets can make one.
//
//	text, err := ring.Issue(token.Claims{Kind: "change", Object: id, Hash: hash, Store: store}, clock.Now(), 30*time.Minute)
//	...
//	claims, err := ring.Verify(text, "change", store, clock.Now())
package token
