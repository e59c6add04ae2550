// Package schema loads a manifest, checks it and lowers it to its effective
// form, in which nothing is implicit. It must never know Go code, files on
// disk beyond those it is given, or the runtime's servers.
package schema
