// Package inner brings package env along.
package inner

import "example.com/dep/env"

func Token() string { return env.Token }
