package main

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

// A test that builds a server starts workers, and a worker is this binary.
func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	os.Exit(m.Run())
}

func TestPrograms(t *testing.T) {
	server, err := build(context.Background(), host.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, program, want string
		err                 error
	}{
		{"found", `return notes.find(word = "MILK")`, `["Buy milk"]`, nil},
		{"not found", `return notes.find(word = "rope")`, `[]`, nil},
		{"limit", `return len(notes.find(word = "l", limit = 1))`, `1`, nil},
		{"out of range", `return notes.find(word = "milk", limit = 21)`, ``, runtime.ErrInvalidArguments},
		{"unknown", `return notes.drop()`, ``, runtime.ErrCapabilityNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := server.Execute(context.Background(), authz.Local(), "def main():\n    "+c.program+"\n")
			if string(got.Result) != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %s, %v; want %s, %v", got.Result, err, c.want, c.err)
			}
		})
	}
}

// The program that README shows.
func TestShownProgram(t *testing.T) {
	server, err := build(context.Background(), host.Env{})
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("notes.star")
	if err != nil {
		t.Fatal(err)
	}
	got, err := server.Execute(context.Background(), authz.Local(), string(source))
	if want := `["milk: Buy milk","ada: Call Ada"]`; err != nil || string(got.Result) != want {
		t.Errorf("got %s, %v; want %s", got.Result, err, want)
	}
	if calls := len(got.Receipt.Calls); calls != 2 {
		t.Errorf("%d calls in the receipt, want 2", calls)
	}
}
