// Package sqlite opens a store in a file of a state directory, which the
// processes of one host share. It must never know what is in the store's rows.
//
//	s, err := sqlite.Open(ctx, dir, store.Options{AuditKey: key})
//
// The file is in rollback-journal mode with synchronous=EXTRA: a transaction
// that was committed is on the disk, the removal of its journal included, and
// somebody who may only read the directory can read the store.
package sqlite
