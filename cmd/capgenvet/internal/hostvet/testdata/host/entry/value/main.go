package main

import "example.com/host/app"

type starter interface{ Start() error }

// A method value, and a conversion to an interface, are on their way to a call.
func main() { // want `first statement of main must be`
	f := app.Starter{}.Start
	run(func() { f() })
}

func run(f func()) { f() }
