package runtime

import (
	"context"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/internal/trial"
)

// everyone asks two authorizers, and passes on what they say of themselves.
type everyone struct{ authz.Authorizer }

func (e everyone) AllowsEverything() bool { return authz.AllowsEverything(e.Authorizer) }

func TestRequirementsAreMetOrBuildFails(t *testing.T) {
	deciding := authz.AuthorizerFunc(func(context.Context, authz.Request) error { return nil })
	for name, test := range map[string]struct {
		require []Requirement
		options Options
		want    string // in the error; empty for none
	}{
		"authorizer": {[]Requirement{RequireAuthorizer}, Options{Authorizer: deciding}, ""},
		"authorizer, all allowed": {[]Requirement{RequireAuthorizer}, Options{Authorizer: authz.AllowAll()},
			"requires an authorizer that decides"},
		"authorizer, all allowed inside of another": {[]Requirement{RequireSandbox, RequireAuthorizer}, Options{Authorizer: everyone{everyone{authz.AllowAll()}}},
			"requires an authorizer that decides"},
		"authorizer, a policy inside of another": {[]Requirement{RequireAuthorizer}, Options{Authorizer: everyone{deciding}}, ""},
		"authorizer, none":                       {[]Requirement{RequireAuthorizer}, Options{}, "no authorizer"},
		"sandbox, off":                           {[]Requirement{RequireSandbox}, Options{Authorizer: deciding, Sandbox: SandboxOff}, "requires the sandbox"},
		"approval and verifier":                  {[]Requirement{RequireApproval, RequireVerifier}, Options{Authorizer: authz.AllowAll()}, ""},
		"unknown":                                {[]Requirement{"luck"}, Options{Authorizer: deciding}, `requires "luck", which this version does not know`},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.IdleWorkers = NoIdleWorkers
			b := NewBuilder(test.options)
			b.Register(NewCapability(lookupInfo(), lookup))
			b.Require(test.require...)
			s, err := b.Build(t.Context())
			if s != nil {
				defer s.Close()
			}
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []Requirement{RequireAuthorizer, RequireApproval, RequireSandbox, RequireVerifier} {
				if got, want := s.Requires(word), strings.Contains(name, string(word)); got != want {
					t.Errorf("Requires(%s) is %t", word, got)
				}
			}
		})
	}
}

// The sandbox's mode is not left to the host where the deployment requires it:
// with a layer missing Build would fail.
func TestRequiredSandboxIsTheMode(t *testing.T) {
	b := NewBuilder(Options{Authorizer: authz.AllowAll()})
	b.Require(RequireSandbox)
	if _, problems := b.requirements(); len(problems) > 0 || b.options.Sandbox != SandboxRequired {
		t.Errorf("mode %v, problems %v", b.options.Sandbox, problems)
	}
}

// A server that only tries out examples needs neither requirements nor
// secrets: it has nothing to protect, and a build machine has none.
func TestTrialsHaveNoRequirements(t *testing.T) {
	b := NewBuilder(Options{Authorizer: authz.AllowAll(), IdleWorkers: NoIdleWorkers})
	b.Trial(trial.New())
	b.Register(NewCapability(lookupInfo(), lookup))
	b.Require(RequireAuthorizer, RequireSandbox)
	b.Credentials(CredentialSource{Credential: "a", From: "env", Name: "CAPGEN_TEST_NOT_SET", Host: "a.example"})
	s, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Workers().Sandbox != SandboxAuto || s.Requires(RequireAuthorizer) {
		t.Errorf("sandbox %v, required %v", s.Workers().Sandbox, s.required)
	}
}

// zero passes the zero value of what f takes, as any host could to a type that
// it cannot name.
func zero[M any](f func(M)) {
	var m M
	f(m)
}

// A host cannot put off what its deployment requires by calling its server a
// trial.
func TestHostsCannotMakeTrials(t *testing.T) {
	b := NewBuilder(Options{Authorizer: authz.AllowAll(), IdleWorkers: NoIdleWorkers})
	zero(b.Trial)
	b.Register(NewCapability(lookupInfo(), lookup))
	b.Require(RequireAuthorizer)
	s, err := b.Build(t.Context())
	if s != nil {
		defer s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "requires an authorizer that decides") {
		t.Errorf("got %v", err)
	}
}
