// Package postgres opens a store in a schema of a PostgreSQL server, which
// several hosts share. It must never know what is in the store's rows.
//
//	s, err := postgres.Open(ctx, "postgres://capgen@db.internal/state", "capgen", store.Options{AuditKey: key})
//
// Write transactions of one store are one after the other: each takes a lock
// of its schema before it reads anything. A server, or a connection, that does
// not make commits durable is refused.
package postgres
