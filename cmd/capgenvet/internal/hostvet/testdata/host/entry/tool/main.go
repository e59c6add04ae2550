// Command tool builds no server, and needs no entry.
package main

import "example.com/host/app"

func main() {
	println("x")
	_ = app.Starter{}
}
