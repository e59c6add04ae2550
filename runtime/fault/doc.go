// Package fault says how an execution can end badly: a closed set of classes
// and one value that carries where and why. Host and worker share it, so it
// must never know a subject, a policy or a handler.
package fault
