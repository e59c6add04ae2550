package govern

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// Tiers are what a host has to confine candidates with, and to hold their
// processes until they are ended.
type Tiers struct {
	Sandbox []confine.Tier
	Scope   []scope.Tier
}

// leastSandbox is what confines a candidate where nobody says: no network, no
// files of others.
const leastSandbox = confine.Landlock

// choose are the strongest tiers that suffice, of a runner's kind.
func (t Tiers) choose(least string, worker bool) (sandbox confine.Tier, hold scope.Tier, err error) {
	at := confine.Tier(cmp.Or(least, string(leastSandbox)))
	kinds := []confine.Tier{confine.Namespaces, confine.Landlock, confine.None}
	if worker {
		kinds = []confine.Tier{confine.Worker}
	}
	i := slices.IndexFunc(kinds, func(k confine.Tier) bool { return k.AtLeast(at) && slices.Contains(t.Sandbox, k) })
	if i < 0 {
		return "", "", noSandbox(worker).because(&unavailable{string(at)})
	}
	for _, hold := range scope.Tiers() {
		if slices.Contains(t.Scope, hold) {
			return kinds[i], hold, nil
		}
	}
	return "", "", noSandbox(worker).because(&unavailable{"any scope"})
}

// noSandbox is what there is to say where tiers are missing: why, as far as is
// known, by the kind of the runner.
func noSandbox(worker bool) *Refusal {
	hint := "native code under a server that is root needs accounts for candidates (--job-uids)"
	if worker {
		hint = "a server that links C code cannot confine itself (build it with CGO_ENABLED=0)"
	}
	return refuse(SandboxUnavailable, "this host cannot confine the candidate as it has to be").suggest("an operator asks doctor why; %s", hint)
}

// unavailable is a tier that this host does not have.
type unavailable struct{ tier string }

func (u *unavailable) Error() string { return "govern: not offered here: " + u.tier }

// tierCache remembers what the host has for tierAge: to try takes processes.
type tierCache struct {
	mu    sync.Mutex
	tried time.Time
	have  Tiers
}

const (
	tierAge      = time.Minute
	tierPatience = 30 * time.Second
)

// offered is what this host has.
func (s *Service) offered(ctx context.Context) Tiers {
	if s.o.Tiers != nil {
		return s.o.Tiers(ctx)
	}
	s.tiers.mu.Lock()
	defer s.tiers.mu.Unlock()
	if time.Since(s.tiers.tried) < tierAge {
		return s.tiers.have
	}
	// What is found out is for others, too: it does not end with this request.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), tierPatience)
	defer stop()
	s.tiers.have, s.tiers.tried = s.probe(ctx), time.Now()
	return s.tiers.have
}

func (s *Service) probe(ctx context.Context) (have Tiers) {
	for _, a := range confine.Probe(ctx, confine.Options{UID: s.o.JobUIDs.First, GID: s.o.JobUIDs.First}) {
		if a.Err == nil {
			have.Sandbox = append(have.Sandbox, a.Tier)
		}
	}
	for _, tier := range scope.Tiers() {
		o := scope.Options{Tier: tier}
		if tier == scope.Cgroup {
			if o.Cgroup = s.o.Cgroup; o.Cgroup == "" {
				continue
			}
			o.Memory, o.Processes = 64<<20, 64 // jobs have bounds, which take controllers
		}
		if scope.Probe(ctx, o) == nil {
			have.Scope = append(have.Scope, tier)
		}
	}
	return have
}
