// Package daemon keeps the keys of approvers in a process of an account that
// neither the server nor its agents have, and signs what an approver asks it to
// at a socket. It must never know how a plan is landed, and confirms nothing of
// its own: the command line that shows a plan to a person asks for the
// signature, as that person's account, which the kernel vouches for.
//
//	log, err := daemon.OpenLog("/var/lib/approver/log")
//	...
//	err = daemon.Serve(ctx, listener, daemon.Options{Log: log, Signers: map[uint32]approve.Signer{1002: signer}, Servers: []uint32{1000}, Now: now})
//
// and, for whoever approves or lands,
//
//	client := daemon.Dial("/run/approver/socket", 1003)
//	signer, err := client.Signer(ctx, body)
//	envelope, err := approve.Sign(ctx, signer, statement)
//	...
//	service := govern.Options{Sources: []approve.Source{client}}
//
// The daemon keeps the envelopes it made, and which approvals were spent on
// what, in a file that is only appended to.
package daemon
