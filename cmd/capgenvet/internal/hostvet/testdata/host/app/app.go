// Package app is the program, but for main.
package app

import "github.com/capgen/capgen/runtime"

// Run builds a server.
func Run() error { return build() }

func build() error { return runtime.NewBuilder().Build() }

// Starter builds one in a method.
type Starter struct{}

func (Starter) Start() error { return build() }
