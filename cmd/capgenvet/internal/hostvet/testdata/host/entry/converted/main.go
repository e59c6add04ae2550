package main

import "example.com/host/app"

type starter interface{ Start() error }

func main() { // want `first statement of main must be`
	start(app.Starter{})
}

func start(s starter) { s.Start() }
