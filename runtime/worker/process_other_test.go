//go:build !linux

package worker_test

func spinAsHost() { panic("not here") }

func fakeMain() {}
