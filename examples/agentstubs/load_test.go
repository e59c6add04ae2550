package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

var (
	soak       = flag.Bool("soak", false, "put the server under load for minutes, and bound what is measured")
	loadWorker = flag.String("worker", "", "`path` of the worker binary of the server under load; without it, workers run the test binary")
)

// loadRequests are the programs of this repository, those of the shared suite
// where that is there, and for every eight of them a search and a description.
func loadRequests(t *testing.T) (list []*request) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/programs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	for _, f := range archive.Files {
		sources[f.Name] = string(f.Data)
	}
	shared, _ := filepath.Glob(filepath.Join(suiteIfThere(), "*.py"))
	for _, path := range shared {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(path); waiting()[name] == "" {
			sources[name] = string(text)
		}
	}
	for name, source := range sources {
		list = append(list, newRequest(name, "execute", map[string]string{"source": source}))
	}
	slices.SortFunc(list, func(a, b *request) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	for range len(list) / 8 {
		list = append(list,
			newRequest("search", "search_api", map[string]string{"query": "list the orders of a customer"}),
			newRequest("describe", "describe_api", map[string]string{"name": "orders.list"}))
	}
	return list
}

// TestLoad puts a server in a process of its own under the load of two hundred
// sessions of both eras. Without -soak it looks at states only: how every call
// ends, that nothing is lost, and that all of it is given back.
func TestLoad(t *testing.T) {
	warm, measuring, atOnce, runs, each := 0*time.Second, 500*time.Millisecond, 32, 1, 300*time.Millisecond
	requests := loadRequests(t)
	if *soak {
		warm, measuring, atOnce, runs, each = 2*time.Second, 10*time.Second, 64, 10, 6*time.Second
	} else {
		few := requests[:0]
		for i := 0; i < len(requests); i += 7 {
			few = append(few, requests[i])
		}
		requests = few
	}
	server := startLoaded(t, *loadWorker, !*soak)
	defer server.end(t)
	g := &generator{server: server, requests: requests, random: rand.New(rand.NewPCG(8, 2026))}
	transport := &http.Transport{MaxIdleConnsPerHost: 4 * allClients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	first := &session{url: server.url, client: client}
	for _, r := range g.requests {
		if o := first.call(t.Context(), r); o.how != succeeded {
			t.Fatalf("%s: %+v", r.name, o)
		}
	}
	open := func() {
		g.sessions = nil
		for i := range allClients {
			s := &session{url: server.url, client: client, user: userOf(i)}
			if i%2 == 0 {
				s.open(t)
			}
			g.sessions = append(g.sessions, s)
		}
	}
	end := func() {
		for _, s := range g.sessions {
			if s.id != "" {
				s.close(t)
			}
		}
	}
	holds := func(phase string, m *measured) {
		t.Helper()
		t.Logf("%s: %s", phase, m)
		if n := m.count(failed); n > 0 || m.count(succeeded) == 0 {
			t.Errorf("%s: %d calls failed, %d succeeded", phase, n, m.count(succeeded))
		}
	}

	open()
	g.closed(warm, atOnce)
	saturation := g.closed(measuring, atOnce)
	holds(fmt.Sprintf("saturation, %d calls at once", atOnce), saturation)
	most := saturation.perSecond()
	end()

	var resident []int
	asked, answered := 0, 0
	for range runs {
		open()
		m := g.open(each, most/2)
		holds("half of saturation", m)
		asked, answered = asked+len(m.outcomes), answered+m.count(succeeded)
		end()
		if bytes, err := server.resident(); err == nil {
			resident = append(resident, bytes)
		}
	}
	t.Logf("half of saturation: %d of %d succeeded; resident after each run: %v", answered, asked, resident)

	open()
	if *soak {
		twice := g.open(2*measuring, 2*most)
		least, who := twice.leastShare()
		holds("twice saturation", twice)
		t.Logf("twice saturation: goodput %.0f %% of saturation; user %d got the least of its share, %.0f %%; by user %v of %v",
			100*twice.perSecond()/most, who, 100*least, twice.byUser, twice.asked)
		bound(t, "successes at half of saturation", float64(answered)/float64(asked), 0.999)
		bound(t, "goodput at twice saturation, of saturation", twice.perSecond()/most, 0.8)
		bound(t, "the least share at twice saturation", least, 0.5)
		if p := twice.percentile(refused, 99); p > 50*time.Millisecond {
			t.Errorf("99 of 100 refusals take up to %v", p)
		}
		early, now := slices.Max(resident[1:4]), slices.Max(resident[len(resident)-3:])
		if float64(now) > 1.1*float64(early) {
			t.Errorf("the server grows: from %d to %d bytes", early, now)
		}
	}
	burst := g.burst(3)
	holds("three calls of each session at once", burst)
	if burst.count(refused) == 0 {
		t.Error("no call of the burst is refused")
	}
	for user, n := range burst.byUser {
		if n == 0 {
			t.Errorf("user %d got nothing", user)
		}
	}
	end()
}

func bound(t *testing.T, what string, got, least float64) {
	t.Helper()
	if got < least {
		t.Errorf("%s: %.4f, at least %.4f", what, got, least)
	}
}
