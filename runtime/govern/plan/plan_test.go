package plan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/token"
)

func sample() Plan {
	peer := uint32(1001)
	return Plan{
		ID: "plan_" + strings.Repeat("0a", 16), Store: strings.Repeat("5e", 16), Owner: "local",
		ServerUID: 1000, PeerUID: &peer, Capability: "strategy.publish", Name: "strategy.publish",
		Effect: EffectChange, Contract: Hash{1}, Arguments: []byte(`{"dir":"momentum"}`), Key: Hash{2},
		Policy: Policy{Min: 2, TTL: 15 * time.Minute}, Separation: SeparationFull,
		Created: token.Instant{Wall: time.UnixMicro(1_780_000_000_000_001).UTC(), Boot: "b", Up: 7 * time.Second}, TTL: time.Hour,
		Change: &Change{Root: "strategies", Path: "eu/momentum", Summary: "Publish.", Pre: change.Absent.Hash(), Post: change.Hash{3}},
	}
}

func call() Plan {
	p := sample()
	p.Effect, p.Change, p.Preview, p.PeerUID = EffectDestroy, nil, &cas.Digest{9}, nil
	p.Policy.SelfAllowed = true
	return p
}

func run() Plan {
	p := sample()
	p.Effect, p.Change = EffectRun, nil
	p.Run = &Run{
		Runner: Runner{Name: "python3", Path: "/usr/bin/python3", SHA256: [32]byte{7}, Args: []string{"python3", "-B", "code/lib/main.py"}, Env: []string{"LANG=C.UTF-8"}, Read: []string{"/usr/lib"}, Entry: "lib/main.py"},
		Code:   change.Hash{8}, Summary: "Try momentum.", Sandbox: "landlock", Scope: "tree",
		Limits: Limits{Wall: time.Minute, CPU: 30 * time.Second, Memory: 256 << 20, Output: 1 << 20, Result: 64 << 10, Processes: 8, Parallel: 2},
	}
	return p
}

func TestBodiesAreCanonical(t *testing.T) {
	old := sample()
	old.Created.Up = 200 * 24 * time.Hour // a server is up for longer than a hundred days
	given := run()
	given.Run.Arguments = []byte(`{"model":"m"}`)
	for _, p := range []Plan{sample(), call(), run(), old, given} {
		body, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := canon.CanonicalizeJSON(nil, body, maxDepth); err != nil || !bytes.Equal(again, body) {
			t.Errorf("%s\nis, in canonical form,\n%s, %v", body, again, err)
		}
		back, err := Parse(body)
		if diff := cmp.Diff(p, back); err != nil || diff != "" {
			t.Errorf("it reads back as (-want +got):\n%s, %v", diff, err)
		}
	}
}

// One plan, one hash: the form is part of what old approvals signed.
func TestHashesStay(t *testing.T) {
	body, _ := sample().Encode()
	const want = `{"approval":{"min":2,"self":"forbid","ttl_us":900000000},"arguments":{"dir":"momentum"},"capability":{"contract":"0100000000000000000000000000000000000000000000000000000000000000","effect":"change","id":"strategy.publish","name":"strategy.publish"},"change":{"path":"eu/momentum","post":"0300000000000000000000000000000000000000000000000000000000000000","pre":"74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b","root":"strategies","summary":"Publish."},"created":{"boot":"b","up_us":7000000,"wall_us":1780000000000001},"id":"plan_0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","key":"0200000000000000000000000000000000000000000000000000000000000000","owner":"local","preview":null,"requester":{"peer_uid":1001,"server_uid":1000},"separation":"full","store":"5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e","ttl_us":3600000000,"v":1}`
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// By: printf 'govern/plan/v1\0%s' BODY | sha256sum
	if got := HashOf(body).String(); got != "2f080e2f7e8850ec4d630906f5ff409a5d6db354b5811fe091b4ec40156d31f3" {
		t.Errorf("the hash of the plan is %s", got)
	}
	if got := sample().Policy.Hash().String(); got != "c921cdd6a94d605cc32a1f76040c18f2121512c0ee8bf14797c71a2eebc69843" {
		t.Errorf("the hash of the policy is %s", got)
	}
}

// The form of runs, likewise.
func TestHashesOfRunsStay(t *testing.T) {
	body, _ := run().Encode()
	const want = `,"run":{"arguments":null,"code":"0800000000000000000000000000000000000000000000000000000000000000","limits":{"cpu_us":30000000,"memory":268435456,"output":1048576,"parallel":2,"processes":8,"result":65536,"wall_us":60000000},"runner":{"args":["python3","-B","code/lib/main.py"],"entry":"lib/main.py","env":["LANG=C.UTF-8"],"name":"python3","path":"/usr/bin/python3","read":["/usr/lib"],"sha256":"0700000000000000000000000000000000000000000000000000000000000000","worker":false},"sandbox":"landlock","scope":"tree","summary":"Try momentum."},"separation":"full",`
	if !strings.Contains(string(body), want) {
		t.Errorf("%s\ndoes not hold\n%s", body, want)
	}
	for i := range len(body) * 8 {
		other := bytes.Clone(body)
		other[i/8] ^= 1 << (i % 8)
		if p, err := Parse(other); err == nil && cmp.Equal(p, run()) {
			t.Fatalf("bit %d says nothing: %s", i, other)
		}
	}
	for _, old := range []string{strings.Replace(string(body), `,"run":{`, `,"run":null,"rum":{`, 1), strings.Replace(string(body), `"parallel":2,`, ``, 1)} {
		if _, err := Parse([]byte(old)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", old, err)
		}
	}
	other, _ := sample().Encode()
	if _, err := Parse(bytes.Replace(other, []byte(`,"separation"`), []byte(`,"run":null,"separation"`), 1)); !errors.Is(err, ErrInvalid) {
		t.Errorf("a change with a member that only runs have: %v", err)
	}
}

func TestCheckRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Plan){
		"id":           func(p *Plan) { p.ID = "plan_" + strings.Repeat("A", 32) },
		"store":        func(p *Plan) { p.Store = "x" },
		"owner":        func(p *Plan) { p.Owner = "" },
		"not UTF-8":    func(p *Plan) { p.Owner = "\xff" },
		"long":         func(p *Plan) { p.Name = strings.Repeat("x", maxText+1) },
		"nobody":       func(p *Plan) { p.ServerUID = 1<<32 - 1 },
		"nobody's":     func(p *Plan) { *p.PeerUID = 1<<32 - 1 },
		"effect":       func(p *Plan) { p.Effect = "read" },
		"no trees":     func(p *Plan) { p.Change = nil },
		"trees":        func(p *Plan) { p.Effect = EffectWrite },
		"preview":      func(p *Plan) { p.Preview = &cas.Digest{} },
		"arguments":    func(p *Plan) { p.Arguments = []byte(`{"b":1,"a":2}`) },
		"array":        func(p *Plan) { p.Arguments = []byte(`[]`) },
		"no arguments": func(p *Plan) { p.Arguments = nil },
		"nobody asked": func(p *Plan) { p.Policy.Min = 0 },
		"a crowd":      func(p *Plan) { p.Policy.Min = MaxApprovers + 1 },
		"no time":      func(p *Plan) { p.Policy.TTL = 0 },
		"too long":     func(p *Plan) { p.TTL = MaxTTL + time.Microsecond },
		"nanoseconds":  func(p *Plan) { p.TTL = time.Nanosecond + time.Second },
		"separation":   func(p *Plan) { p.Separation = "" },
		"never":        func(p *Plan) { p.Created = token.Instant{} },
		"no boot":      func(p *Plan) { p.Created.Boot = "" },
		"no root":      func(p *Plan) { p.Change.Root = "" },
		"outside":      func(p *Plan) { p.Change.Path = "../x" },
		"absolute":     func(p *Plan) { p.Change.Path = "/x" },
		"unseen":       func(p *Plan) { p.Change.Path = "a\u202eb" },
		"nothing":      func(p *Plan) { p.Change.Post = p.Change.Pre },
		"summary":      func(p *Plan) { p.Change.Summary = strings.Repeat("x", MaxSummaryBytes+1) },
		"code":         func(p *Plan) { p.Run = run().Run },
	} {
		p := sample()
		spoil(&p)
		if _, err := p.Encode(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spoil := range map[string]func(*Plan){
		"no code":         func(p *Plan) { p.Run = nil },
		"nothing there":   func(p *Plan) { p.Run.Code = change.Absent.Hash() },
		"trees":           func(p *Plan) { p.Change = sample().Change },
		"preview":         func(p *Plan) { p.Preview = &cas.Digest{} },
		"effect":          func(p *Plan) { p.Effect = EffectWrite },
		"summary":         func(p *Plan) { p.Run.Summary = strings.Repeat("x", MaxSummaryBytes+1) },
		"no sandbox":      func(p *Plan) { p.Run.Sandbox = "" },
		"no scope":        func(p *Plan) { p.Run.Scope = "a b" },
		"no runner":       func(p *Plan) { p.Run.Runner.Name = "" },
		"odd runner":      func(p *Plan) { p.Run.Runner.Name = "a/b" },
		"no path":         func(p *Plan) { p.Run.Runner.Path = "" },
		"zero byte":       func(p *Plan) { p.Run.Runner.Path = "/a\x00b" },
		"no hash":         func(p *Plan) { p.Run.Runner.SHA256 = [32]byte{} },
		"not UTF-8":       func(p *Plan) { p.Run.Runner.Args[0] = "\xff" },
		"no name":         func(p *Plan) { p.Run.Runner.Args = nil },
		"no path to read": func(p *Plan) { p.Run.Runner.Read[0] = "" },
		"given a list":    func(p *Plan) { p.Run.Arguments = []byte("[]") },
		"given text":      func(p *Plan) { p.Run.Arguments = []byte(`{"a": 1}`) },
		"given nothing":   func(p *Plan) { p.Run.Arguments = []byte{} },
		"many arguments":  func(p *Plan) { p.Run.Runner.Args = make([]string, MaxWords+1) },
		"no variable":     func(p *Plan) { p.Run.Runner.Env[0] = "LANG" },
		"nameless":        func(p *Plan) { p.Run.Runner.Env[0] = "=x" },
		"many variables":  func(p *Plan) { p.Run.Runner.Env = slices.Repeat([]string{"a=b"}, MaxWords+1) },
		"no entry":        func(p *Plan) { p.Run.Runner.Entry = "" },
		"entry above":     func(p *Plan) { p.Run.Runner.Entry = "../main.py" },
		"entry at root":   func(p *Plan) { p.Run.Runner.Entry = "/main.py" },
		"no wall":         func(p *Plan) { p.Run.Limits.Wall = 0 },
		"long wall":       func(p *Plan) { p.Run.Limits.Wall = MaxWall + time.Microsecond },
		"nanoseconds":     func(p *Plan) { p.Run.Limits.CPU++ },
		"no memory":       func(p *Plan) { p.Run.Limits.Memory = 0 },
		"no output":       func(p *Plan) { p.Run.Limits.Output = -1 },
		"large result":    func(p *Plan) { p.Run.Limits.Result = MaxResult + 1 },
		"no processes":    func(p *Plan) { p.Run.Limits.Processes = 0 },
		"many at a time":  func(p *Plan) { p.Run.Limits.Parallel = MaxParallel + 1 },
	} {
		p := run()
		spoil(&p)
		if _, err := p.Encode(); !errors.Is(err, ErrInvalid) {
			t.Errorf("of a run, %s: %v", name, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	body, _ := sample().Encode()
	text := string(body)
	for name, bad := range map[string]string{
		"space":         text + " ",
		"unknown":       strings.Replace(text, `"v":1`, `"v":1,"w":1`, 1),
		"twice":         strings.Replace(text, `"v":1`, `"v":1,"v":1`, 1),
		"missing":       strings.Replace(text, `"separation":"full",`, ``, 1),
		"no key":        strings.Replace(text, `"key":"02`, `"keys":"02`, 1),
		"upper case":    strings.Replace(text, `"contract":"01`, `"contract":"0A`, 1),
		"version":       strings.Replace(text, `"v":1`, `"v":2`, 1),
		"order":         strings.Replace(strings.Replace(text, `,"v":1`, ``, 1), `{"approval"`, `{"v":1,"approval"`, 1),
		"number":        strings.Replace(text, `"v":1`, `"v":1.0`, 1),
		"escape":        strings.Replace(text, `"local"`, `"\u006cocal"`, 1),
		"arguments":     strings.Replace(text, `{"dir":"momentum"}`, `{"dir": "momentum"}`, 1),
		"twice below":   strings.Replace(text, `"min":2`, `"min":1,"min":2`, 1),
		"unknown below": strings.Replace(text, `"min":2`, `"max":9,"min":2`, 1),
		"cut":           text[:len(text)-1],
		"empty":         "",
		"long":          text + strings.Repeat(" ", MaxBodyBytes),
	} {
		if bad == text {
			t.Errorf("%s: nothing is wrong with it", name)
		}
		if _, err := Parse([]byte(bad)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every bit of a body decides, or is refused: no two bodies are one plan.
func TestEveryBitCounts(t *testing.T) {
	body, _ := sample().Encode()
	for i := range len(body) * 8 {
		other := bytes.Clone(body)
		other[i/8] ^= 1 << (i % 8)
		if HashOf(other) == HashOf(body) {
			t.Fatalf("bit %d is not hashed", i)
		}
		if p, err := Parse(other); err == nil && cmp.Equal(p, sample()) {
			t.Fatalf("bit %d says nothing: %s", i, other)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, p := range []Plan{sample(), call(), run()} {
		body, _ := p.Encode()
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := Parse(body)
		if err != nil {
			return
		}
		if again, err := p.Encode(); err != nil || !bytes.Equal(again, body) {
			t.Fatalf("%q is a plan, and spelt %q, %v", body, again, err)
		}
	})
}

func TestActions(t *testing.T) {
	file := func(path string, digest byte) change.Node {
		return change.Node{Path: path, Mode: 0o600, Size: 1, Digest: cas.Digest{digest}}
	}
	pre := change.Tree{Present: true, Mode: 0o755, Nodes: []change.Node{
		file("!first", 1), file("gone", 1), file("mode", 1), file("same", 1), {Path: "swap", Dir: true, Mode: 0o755}, file("text", 1),
	}}
	post := change.Tree{Present: true, Mode: 0o700, Nodes: []change.Node{
		file("!first", 1), {Path: "dir", Dir: true, Mode: 0o755}, {Path: "mode", Mode: 0o755, Size: 1, Digest: cas.Digest{1}}, file("new", 1), file("same", 1), file("swap", 2), file("text", 2),
	}}
	said := func(actions []Action) (out []string) {
		for _, a := range actions {
			out = append(out, fmt.Sprintf("%s %s %t %t", a.Kind, a.Path, a.Before != nil, a.After != nil))
		}
		return out
	}
	want := []string{
		"mode . true true", "mkdir dir false true", "delete gone true false", "mode mode true true", "create new false true",
		"rmdir swap true false", "create swap false true", "replace text true true",
	}
	if diff := cmp.Diff(want, said(Actions(pre, post))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := said(Actions(pre, pre)); got != nil {
		t.Errorf("nothing changes by %v", got)
	}
	if got := said(Actions(change.Absent, pre)); len(got) != 7 || got[0] != "mkdir . false true" || got[1] != "create !first false true" {
		t.Errorf("to make all of it takes %v", got)
	}
	if got := said(Actions(pre, change.Absent)); len(got) != 7 || !slices.Contains(got, "rmdir . true false") {
		t.Errorf("to take all of it away takes %v", got)
	}
}
