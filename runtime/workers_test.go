package runtime

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/worker"
	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// What holds is reported, and is enough or not by the mode.
func TestSandboxModes(t *testing.T) {
	var log strings.Builder
	s := build(t, Options{Authorizer: authz.AllowAll(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	auto := s.Workers()
	if auto.Sandbox != SandboxAuto || auto.Memory != DefaultWorkerMemory || auto.Binary.String() != "this executable" {
		t.Errorf("%+v", auto)
	}
	if !strings.Contains(log.String(), `layers="`+auto.Confinement.String()+`"`) {
		t.Errorf("the log says %s", log.String())
	}
	complete := len(auto.Confinement.Layers) == len(sandbox.Layers()) && len(sandbox.Layers()) > 0
	if complete == (len(auto.Confinement.Missing) > 0) && len(sandbox.Layers()) > 0 {
		t.Errorf("%+v", auto.Confinement)
	}
	required := NewBuilder(Options{Authorizer: authz.AllowAll(), Sandbox: SandboxRequired})
	server, err := required.Build(t.Context())
	if err == nil {
		server.Close()
	}
	if complete != (err == nil) {
		t.Errorf("required, with %s: %v", auto.Confinement, err)
	}
	var unconfined *UnconfinedError
	if err != nil && len(sandbox.Layers()) > 0 && !errors.As(err, &unconfined) {
		t.Errorf("required: %v", err)
	}
	off := build(t, Options{Authorizer: authz.AllowAll(), Sandbox: SandboxOff}).Workers()
	if off.Confinement.String() != "no OS boundary" {
		t.Errorf("off: %+v", off)
	}
	if _, err := NewBuilder(Options{Authorizer: authz.AllowAll(), Sandbox: 9}).Build(t.Context()); err == nil || !strings.Contains(err.Error(), "unknown sandbox mode 9") {
		t.Errorf("9: %v", err)
	}
}

// A named worker binary must be one; one that just stands beside this
// executable is passed over, and the server works all the same.
func TestWorkerExecutable(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("only Linux runs another binary")
	}
	named := filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(named, []byte("#!/bin/sh\nexit 0\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(named, 0o777); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"relative": "not an absolute", named: "Options.WorkerExecutable", named + "x": "Options.WorkerExecutable"} {
		_, err := NewBuilder(Options{Authorizer: authz.AllowAll(), WorkerExecutable: path}).Build(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(filepath.Dir(self), worker.BinaryName)
	// Not a worker, and others may write to it.
	if err := os.WriteFile(beside, []byte("#!/bin/sh\nexit 0\n"), 0o777); err != nil {
		t.Skip("nothing can be put beside this test: ", err)
	}
	defer os.Remove(beside)
	if err := os.Chmod(beside, 0o777); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	s := build(t, Options{Authorizer: authz.AllowAll(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if w := s.Workers().Binary; w.Path != "" || w.Passed == nil || !strings.Contains(log.String(), "is not used") {
		t.Errorf("%+v; the log says %s", w, log.String())
	}
	if x, err := s.Execute(t.Context(), authz.Local(), "1 + 1"); err != nil || string(x.Result) != "2" {
		t.Errorf("%s, %v", x.Result, err)
	}
}
