package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version prints what the build knows of itself.
func version(_ context.Context, t *tool, _ *options) int {
	v, revision := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	fmt.Fprintf(t.stdout, "capgen %s%s %s\n", v, revision, runtime.Version())
	return exitClean
}
