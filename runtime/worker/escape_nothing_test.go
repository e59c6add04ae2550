//go:build linux && !(amd64 || arm64)

package worker

func runEscape(string) { panic("no sandbox here") }

func runSpin()         { panic("no sandbox here") }
func runMemory(string) { panic("no sandbox here") }
