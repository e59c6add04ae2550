// Package cas keeps byte strings under their own SHA-256, so that what was
// reviewed is what is used. It must never know what the bytes are for, or who
// may read them.
//
//	store := cas.New(dir)
//	digest, err := store.Put(source)
//	if err != nil {
//		return err
//	}
//	again, err := store.Get(digest, maxBytes)
//
// What Put returned a digest for outlives a loss of power: content and name are
// durable before. What Get returns has that digest, or it is an error: a disk
// that changed it is found out.
package cas
