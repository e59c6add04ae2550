// Package confine takes from the process that becomes a candidate what it does
// not need: files, the network, other processes, the rights of the account that
// started it. It must never know what a candidate is for, who asked for it, or
// what holds its processes together.
//
// What is taken is a [Tier]. [Probe] tells which ones this host can offer, by
// trying them, and [Table] what each refuses, contains and leaves open:
//
//	for _, a := range confine.Probe(ctx, confine.Options{UID: 70001, GID: 70001}) {
//		fmt.Println(a.Tier, a.Err) // nil: it can be had
//	}
//	spec := confine.Spec{Tier: confine.Landlock, Box: box, Read: []string{"/usr", "/lib", "/lib64"}, UID: 70001, GID: 70001}
//	if err := spec.Own(); err != nil { // out and tmp become the candidate's
//		return err
//	}
//	err := s.Start(ctx, scope.Command{Path: "/usr/bin/python3", Args: args, Dir: box, Confine: &spec})
//
// A box is the candidate's current directory, with code and arguments.json, which
// it reads, and out and tmp, which it writes. Paths relative to it mean the same
// in every tier; in tier namespaces it is /box, and absolute paths of the host
// but for those in Read do not exist.
//
// Package scope applies a spec. Whoever calls [Spec.Enter] themselves does that
// in a process that has nothing else to do.
package confine
