package main

import "example.com/host/app"

func main() { // want `first statement of main must be`
	if err := app.Run(); err != nil {
		panic(err)
	}
}
