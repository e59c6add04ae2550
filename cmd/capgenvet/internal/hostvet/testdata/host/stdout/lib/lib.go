// Package lib prints in one function, as it may: it is no host.
package lib

import "fmt"

func Report[T any](v T) { fmt.Print(v) }

func Text[T any](v T) string { return fmt.Sprint(v) }

type Mapper[T any] struct{}

func (Mapper[T]) Map() { fmt.Print("x") }

// Spoken has an excuse, and so have its callers.
func Spoken() {
	fmt.Print("x") //capgenvet:allow stdout before the host begins to serve
}
