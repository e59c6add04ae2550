package confine_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// without plays a candidate in a tier that lacks some layers.
func without(t *testing.T, tier confine.Tier, layers string, k task, limits scope.Limits) (h *theater, output string) {
	t.Helper()
	for _, a := range probe(t) {
		if a.Tier == tier && a.Err != nil {
			t.Skip(a.Err)
		}
	}
	h = newTheater(t, tier)
	k.Spec, k.Without = &h.spec, strings.Fields(layers)
	output, _, mark := h.play(t, k, limits)
	if living(t, mark) > 0 {
		t.Error("something lives on")
	}
	return h, output
}

// What each layer is for: without it these rows of the table become open, and no
// others. Where none does, others hold what it holds.
func TestWithoutLayers(t *testing.T) {
	asRoot(t)
	const whose = "find out whose processes of others are"
	files := []string{
		"read the token key", "read the database", "read the trust root", "read the server's $HOME", "read another job's box",
		"write or remove a file outside of its box", "use devices but null, zero, full, random, urandom", "read /proc or /sys",
		whose,
	}
	const (
		meta     = "find out whether a file outside exists, its size and times"
		families = "use sockets of other families (netlink, packet, vsock)"
		keyrings = "use kernel keyrings"
		kernel   = "use mounts, namespaces, bpf, perf, io_uring, userfaultfd"
		watch    = "watch files of others"
		times    = "set the times of a file outside of its box, where its mode lets it"
		aio      = "use up asynchronous I/O, of which the host has an amount for all"
		room     = "take room on the disk beyond the size of its files"
	)
	for _, c := range []struct {
		tier    confine.Tier
		without string
		opens   []string
	}{
		{confine.Namespaces, "", nil},
		{confine.Namespaces, "root", []string{meta, times}},
		{confine.Namespaces, "root landlock", append([]string{meta, times}, files...)},
		{confine.Namespaces, "landlock", nil},
		{confine.Namespaces, "seccomp", []string{families, keyrings, kernel, watch, whose, aio, room}},
		{confine.Landlock, "", nil},
		{confine.Landlock, "landlock", files},
		{confine.Landlock, "account no_new_privs", []string{"change its own code or arguments", "get rights by a set-user-id program"}},
		{confine.Landlock, "seccomp", []string{
			families, keyrings, kernel, watch, whose, aio, room, "set extended attributes of a file outside of its box", "use the network by IPv4", "use the network by IPv6", "use Unix sockets with a path",
			"use shared memory, semaphores or messages of others",
		}},
	} {
		t.Run(string(c.tier)+" without "+c.without, func(t *testing.T) {
			t.Parallel()
			h, output := without(t, c.tier, c.without, task{Mode: "simple"}, simpleLimits)
			found := h.found(t, output)
			for _, r := range confine.Table() {
				if r.By[c.tier] == confine.Open || h.untested(t, r.Threat) != "" {
					delete(found, r.Threat)
				}
			}
			if strings.Contains(c.without, "account") {
				delete(found, "raise its own limits") // not every root can
			}
			maps.DeleteFunc(found, func(_ string, holds confine.Holds) bool { return holds != confine.Open })
			want := slices.DeleteFunc(slices.Sorted(slices.Values(c.opens)), func(threat string) bool { return h.untested(t, threat) != "" })
			if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
				t.Errorf("open:\n%s\n\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// Nothing but the account bounds the number of processes.
func TestWithoutAccount(t *testing.T) {
	asRoot(t)
	for _, tier := range []confine.Tier{confine.Namespaces, confine.Landlock} {
		_, output := without(t, tier, "account", task{Mode: "fork"}, scope.Limits{Processes: childLimit})
		if n, err := strconv.Atoi(strings.TrimSpace(output)); err != nil || n != childNumber {
			t.Errorf("%s: %q", tier, output)
		}
	}
}

// Without no_new_privs nothing can be entered by who has no rights, and a tier is
// entered as a whole or not at all.
func TestWithoutNoNewPrivs(t *testing.T) {
	asRoot(t)
	for _, tier := range []confine.Tier{confine.Namespaces, confine.Landlock} {
		_, output := without(t, tier, "no_new_privs", task{Mode: "simple"}, simpleLimits)
		if !strings.HasPrefix(output, "not entered: ") {
			t.Errorf("%s: %q", tier, output)
		}
	}
}
