// Command nohost has no workers.
package main

import "example.com/dep/env"

func main() { println(env.Token) }
