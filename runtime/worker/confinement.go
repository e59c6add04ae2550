package worker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// Sandbox says what a host does about layers of the sandbox that its system
// cannot give.
type Sandbox int

const (
	// SandboxAuto enters what there is and reports it.
	SandboxAuto Sandbox = iota
	// SandboxRequired refuses to work with less than all layers.
	SandboxRequired
	// SandboxOff enters none.
	SandboxOff
)

// String returns auto, required or off.
func (s Sandbox) String() string {
	switch s {
	case SandboxAuto:
		return "auto"
	case SandboxRequired:
		return "required"
	case SandboxOff:
		return "off"
	}
	return fmt.Sprintf("Sandbox(%d)", int(s))
}

// Confinement is what a worker reported of its sandbox.
type Confinement struct {
	// Layers that hold, in the order in which they were entered. Without any
	// there is no OS boundary.
	Layers []string
	// Missing are the layers that do not hold, each with its reason.
	Missing []string
}

// String lists the layers, or says that there is no OS boundary.
func (c Confinement) String() string {
	if len(c.Layers) == 0 {
		return "no OS boundary"
	}
	return strings.Join(c.Layers, " ")
}

// UnconfinedError is what is wrong with a worker that holds less than its host
// asks for.
type UnconfinedError struct {
	Layer  string // the first one that is missing
	Reason string
	// Confinement is what the worker reported.
	Confinement Confinement
}

func (e *UnconfinedError) Error() string {
	return fmt.Sprintf("the layer %s of the sandbox does not hold: %s", e.Layer, e.Reason)
}

// required are the layers without which no worker is used.
func (c Config) required() ([]string, error) {
	switch c.Sandbox {
	case SandboxAuto, SandboxOff:
		return slices.Clone(c.Layers), nil
	case SandboxRequired:
	default:
		return nil, fmt.Errorf("worker: unknown sandbox mode %d", int(c.Sandbox))
	}
	all := sandbox.Layers()
	if len(all) == 0 {
		return nil, fmt.Errorf("worker: the sandbox is required, and this system has none: no OS boundary")
	}
	required := slices.Clone(c.Layers)
	for _, l := range all {
		required = append(required, string(l))
	}
	return required, nil
}

// unconfined says what is missing of the required layers, and nil if nothing.
func unconfined(m *message, required []string) error {
	for _, l := range required {
		if slices.Contains(m.layers, l) {
			continue
		}
		reason := "it is not reported"
		for _, text := range m.missing {
			if after, ok := strings.CutPrefix(text, l+": "); ok {
				reason = after
			}
		}
		return &UnconfinedError{Layer: l, Reason: reason, Confinement: Confinement{m.layers, m.missing}}
	}
	return nil
}
