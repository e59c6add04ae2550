// Package authz says who calls and what they may do: subjects, scopes and the
// authorizer seam. It must never know a transport, a handler or how a server
// is built.
package authz
