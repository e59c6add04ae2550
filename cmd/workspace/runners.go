package main

import (
	"context"
	"os/exec"

	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/host"
)

// runners are what drafts run with here.
type runners struct {
	list     []runner.Runner
	disabled []string // capabilities that need one which is not here
	missing  []error  // why not
}

// findRunners asks the system's interpreter who it is.
func findRunners() (r runners) {
	for _, of := range []struct {
		capability string
		find       func() (runner.Runner, error)
	}{{"drafts.evaluate", runner.Starlark}, {"drafts.evaluate_python", python}} {
		found, err := of.find()
		if err != nil {
			r.disabled = append(r.disabled, of.capability+".prepare", of.capability+".start")
			r.missing = append(r.missing, err)
			continue
		}
		r.list = append(r.list, found)
	}
	return r
}

// python is the system's interpreter, which accounts of candidates can reach too,
// or else the one that a shell would find.
func python() (runner.Runner, error) {
	r, err := runner.Python("/usr/bin/" + runner.PythonName)
	if err == nil {
		return r, nil
	}
	path, missing := exec.LookPath(runner.PythonName)
	if missing != nil {
		return r, err
	}
	return runner.Python(path)
}

// foundRunners finds them when it is first asked.
type foundRunners func() runners

// said has doctor say which are missing: what needs them does not exist then.
func (found foundRunners) said(x host.Extension) host.Extension {
	doctor := x.Doctor
	x.Doctor = func(ctx context.Context, env host.Env, line func(name, format string, args ...any)) bool {
		for _, err := range found().missing {
			line("runner", "none: %v", err)
		}
		return doctor(ctx, env, line)
	}
	return x
}
