package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
	"github.com/capgen/capgen/runtime/host"
)

// doctor says which separation holds, and what is writable by whom. It writes
// nothing.
func (s *Setup) doctor(ctx context.Context, env host.Env, line lines) bool {
	healthy := s.doctorHost(ctx, line)
	return s.doctorState(ctx, env, line) && healthy
}

// doctorState is what doctor says of the state directory.
func (s *Setup) doctorState(ctx context.Context, env host.Env, line lines) bool {
	if s.state == "" {
		line("changes", "off: there is no --state")
		return true
	}
	o, service, err := s.reader(ctx, host.Invocation{Env: env})
	if err != nil {
		line("changes", "MISSING %v", err)
		return false
	}
	defer service.Close()
	f, err := o.Facts(ctx)
	if err != nil {
		line("changes", "MISSING %v", err)
		return false
	}
	line("changes", "store %s", f.Store)
	for _, status := range slices.Sorted(maps.Keys(f.Plans)) {
		line("", "%d plans %s", f.Plans[status], status)
	}
	for _, id := range f.Unfinished {
		line("", "%s is not at its end: run recover", id)
	}
	doctorJobs(f, line)
	healthy := !f.ClockRegressed
	if f.ClockRegressed {
		line("", "MISSING time: the clock is behind what was done here")
	}
	for _, r := range f.Roots {
		if r.Err != nil {
			healthy = false
			line("", "MISSING root %s: %v", r.Name, r.Err)
		}
		for _, name := range r.Left {
			line("", "root %s: %s was left by a landing: run recover", r.Name, name)
		}
	}
	switch {
	case s.trust == "":
		line("approvers", "none: there is no --trust-root, and nothing can be approved")
	case f.TrustError != nil:
		healthy = false
		line("approvers", "MISSING %v", f.TrustError)
	case len(f.Approvers) == 0:
		line("approvers", "none: the trust root holds no key that counts")
	}
	approvers := map[int]string{}
	for n, a := range f.Approvers {
		name := "approvers"
		if n > 0 {
			name = ""
		}
		line(name, "%s, account %d, key %.16s", a.Name, a.UID, a.KeyID)
		approvers[int(a.UID)] = "is an approver's account"
	}
	healthy = s.free(approvers, line) && healthy
	return s.separation(ctx, f, line) && healthy
}

// separation writes who is kept apart from whom.
func (s *Setup) separation(ctx context.Context, f govern.Facts, line lines) bool {
	paths, err := s.guarded()
	if err != nil {
		line("separation", "MISSING %v", err)
		return false
	}
	server, err := ownerOf(s.state)
	if err != nil {
		line("separation", "MISSING %v", err)
		return false
	}
	agent := s.flags.agentUID
	var open []access // what the agent's account can write
	var probed error
	if agent >= 0 {
		who, err := accountOf(agent)
		if err == nil {
			open, err = s.writableBy(who, paths)
		}
		if err != nil {
			line("separation", "MISSING %v", err)
			return false
		}
		if os.Geteuid() == 0 {
			var more []string
			if more, probed = probe(ctx, who, paths); probed == nil {
				open = merge(open, more)
			}
		}
	}
	word, why := judge(server, agent, f, open, probed)
	line("approval_separation", "%s", word)
	line("", "%s", why)
	line("accounts", "server %d, this process %d, agent %s", server, os.Geteuid(), agentWord(agent))
	for _, p := range paths {
		a, err := look(p)
		if err != nil {
			line("writable", "%s: %v", p, err)
			continue
		}
		line("writable", "%s by %s", p, a)
	}
	for _, a := range open {
		line("", "MISSING %s can be written by the agent's account: %s", a.path, a.reason)
	}
	return len(open) == 0
}

func agentWord(uid int) string {
	if uid < 0 {
		return "not said (--agent-uid)"
	}
	return fmt.Sprint(uid)
}

// judge is the separation, and why it is no better.
func judge(server uint32, agent int, f govern.Facts, open []access, probed error) (word plan.Separation, why string) {
	approvers := map[uint32]bool{}
	for _, a := range f.Approvers {
		approvers[a.UID] = true
	}
	switch {
	case f.TrustError != nil || len(approvers) == 0:
		return plan.SeparationNone, "nobody can approve"
	case approvers[server]:
		return plan.SeparationNone, "an approver's account is the server's: whoever runs as that account can approve what it asks for"
	case agent < 0:
		return plan.SeparationUnknown, "approvers have accounts other than the server's; which one agents have was not said"
	case approvers[uint32(agent)]:
		return plan.SeparationNone, "an approver's account is the agent's"
	case uint32(agent) == server:
		return plan.SeparationPartial, "the agent's account is the server's: it can write roots and state, but cannot approve"
	case len(open) > 0:
		return plan.SeparationPartial, "the agent's account can write what the server relies on"
	case probed != nil:
		return plan.SeparationUnknown, "it was not tried as the agent's account: " + probed.Error()
	}
	return plan.SeparationFull, "agent, server and approvers are accounts of their own"
}

// maxInside bounds how many names below roots and objects doctor looks at.
const maxInside = 100_000

// writableBy are what of the paths, and of what is below roots and objects, an
// account can write by what modes say.
func (s *Setup) writableBy(who person, paths []string) ([]access, error) {
	var open []access
	look := func(path string) error {
		a, found, err := who.canWrite(path)
		if found {
			open = append(open, a)
		}
		return err
	}
	for _, p := range paths {
		if err := look(p); err != nil {
			return nil, err
		}
	}
	roots := map[string]string{}
	if s.Roots != nil {
		var err error
		if roots, err = s.Roots(); err != nil {
			return nil, err
		}
	}
	left := maxInside
	for _, top := range append(slices.Sorted(maps.Values(roots)), filepath.Join(s.state, "cas")) {
		err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			switch left--; {
			case err != nil:
				return err
			case left < 0:
				return fmt.Errorf("there are more than %d names below roots and objects: not all of them were looked at", maxInside)
			case path == top, !e.IsDir() && !e.Type().IsRegular():
				return nil
			}
			return look(path)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return open, nil
}

// guarded are the paths that decide what lands and who approved: state, roots,
// trust root, where the approval daemon answers, this program, and the
// directories above them.
func (s *Setup) guarded() ([]string, error) {
	list := []string{s.state}
	for _, name := range []string{sqlite.FileName, "cas", "keys", "running", "jobs", auditKeyFile} {
		p := filepath.Join(s.state, name)
		if _, err := os.Lstat(p); err == nil {
			list = append(list, p)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if s.socket != "" {
		list = append(list, filepath.Dir(s.socket))
	}
	if s.trust != "" {
		list = append(list, s.trust)
	}
	if s.Roots != nil {
		roots, err := s.Roots()
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(roots)) {
			list = append(list, roots[name])
		}
	}
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, p := range append(list, binary) {
		real, err := filepath.EvalSymlinks(p)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			return nil, err
		}
		for ; !all[real]; real = filepath.Dir(real) {
			all[real] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// access is why somebody can write a path.
type access struct{ path, reason string }

func merge(found []access, probed []string) []access {
	for _, p := range probed {
		if !slices.ContainsFunc(found, func(a access) bool { return a.path == p }) {
			found = append(found, access{p, "it was tried"})
		}
	}
	return found
}

// writable prints which of the paths this account can write.
func (s *Setup) writable(_ context.Context, i host.Invocation) error {
	for _, p := range i.Arguments {
		if strings.ContainsAny(p, "\n") {
			return &host.ExitError{Code: host.ExitUsage, Err: errors.New("writable: a path with a line feed")}
		}
		if canWrite(p) {
			if _, err := fmt.Fprintln(i.Stdout, p); err != nil {
				return err
			}
		}
	}
	return nil
}
