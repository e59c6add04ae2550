// Package sshagenttest gives a test an agent of OpenSSH's that holds one key. It
// is for tests only, and must never know what the key is good for.
//
//	socket := sshagenttest.Start(t)
//	keys, err := approve.AgentKeys(t.Context(), socket)
package sshagenttest
