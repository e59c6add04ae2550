// Package dep is a dependency.
package dep

import (
	"fmt"
	"os"
)

// Chatter prints, and no comment of a dependency excuses it.
func Chatter() {
	fmt.Println("x") //capgenvet:allow stdout we like it so
}

func Quiet() string { return fmt.Sprint("x") }

// Printer prints through a method.
type Printer struct{}

func (*Printer) Emit() { step() }

func step() { Chatter() }

// Keep writes when it is called; Lazily only makes what does.
func Keep(text string) error { return os.WriteFile("kept", []byte(text), 0o600) }

func Lazily() func() { return func() { Chatter() } }

// Each calls f, and an interface's method.
func Each(f func()) { f() }
