// Package approve makes and checks approvals: signed statements of people about
// one plan, which the server that lands it could not have made. It must never
// know how a plan is landed, and it trusts no place that an approval was kept
// in: signatures, and the file that says whose count, decide.
//
//	signer, err := approve.OpenKey("/home/ada/.config/capgen/approver.key")
//	...
//	envelope, err := approve.Sign(ctx, signer, approve.Statement{Purpose: approve.Approve, Plan: p.ID, …})
//
// and, where it lands,
//
//	trust, err := approve.OpenTrustRoot("/etc/capgen/approvers", serverUID, agentUID)
//	...
//	decision, err := approve.Decide(body, envelopes, trust, now)
//	if err := decision.Err(); err != nil {
//		return err // ErrRequired, ErrExpired or ErrRejected
//	}
//
// An approval is a DSSE envelope (the protocol's version 1) with one Ed25519
// signature (RFC 8032), in one spelling. Keys come from the trust root alone.
// docs/reference/approvals.md has the forms.
package approve
