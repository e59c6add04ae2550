package host

import "github.com/capgen/capgen/runtime"

type Options struct {
	Build func() (*runtime.Builder, error)
}

func Main(o Options) int { return 0 }
