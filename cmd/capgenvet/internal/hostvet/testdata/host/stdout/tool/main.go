// Command tool is no host: standard output is its own.
package main

import "fmt"

func main() { fmt.Println("x") }
