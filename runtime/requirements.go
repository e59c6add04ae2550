package runtime

import (
	"errors"
	"fmt"
	"slices"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/internal/trial"
)

// Requirement is what a deployment needs before it is served: a word of
// `require` in the manifest.
type Requirement string

// The requirements.
const (
	// RequireAuthorizer: Build refuses an authorizer that allows everything,
	// as far as it says so (authz.AllowsEverything).
	RequireAuthorizer Requirement = "authorizer"
	// RequireApproval: no capability changes or runs things without somebody
	// else's approval. The generator refuses such a manifest.
	RequireApproval Requirement = "approval"
	// RequireSandbox: the sandbox's mode is SandboxRequired; Build refuses
	// SandboxOff.
	RequireSandbox Requirement = "sandbox"
	// RequireVerifier: who serves over HTTP verifies who calls, or does not
	// serve. That is up to the transport, which asks Server.Requires.
	RequireVerifier Requirement = "verifier"
)

// Require adds to what the server needs; generated code calls it. It panics
// after Build.
func (b *Builder) Require(words ...Requirement) {
	if b.built {
		panic("runtime: Require after Build")
	}
	b.required = append(b.required, words...)
}

// Trial makes a server that only tries out the examples of a manifest: it has
// no requirements, and its handlers get no credentials. Only the tests that are
// generated can ask for it: the zero mode asks for nothing.
func (b *Builder) Trial(mode trial.Mode) { b.trial = mode.Made() }

// requirements are those in force, with what does not meet them.
func (b *Builder) requirements() (required []Requirement, problems []error) {
	if b.trial {
		return nil, nil
	}
	for _, word := range b.required {
		switch word {
		case RequireAuthorizer:
			if !isNil(b.options.Authorizer) && authz.AllowsEverything(b.options.Authorizer) {
				problems = append(problems, errors.New("the deployment requires an authorizer that decides, and Options.Authorizer allows everything"))
			}
		case RequireSandbox:
			if b.options.Sandbox == SandboxOff {
				problems = append(problems, errors.New("the deployment requires the sandbox, and Options.Sandbox is SandboxOff"))
			}
			b.options.Sandbox = SandboxRequired
		case RequireApproval, RequireVerifier:
		default:
			problems = append(problems, fmt.Errorf("the deployment requires %s, which this version does not know", quoted(string(word))))
		}
	}
	return slices.Clone(b.required), problems
}

// Requires tells whether the deployment requires r. What serves over HTTP
// refuses to without a verifier where it is true of RequireVerifier.
func (s *Server) Requires(r Requirement) bool { return slices.Contains(s.required, r) }
