//go:build amd64 || arm64

package sandbox

import (
	"runtime"
	"slices"
)

// Layers returns all layers that this system can have, in the order in which
// they are entered.
func Layers() []Layer {
	return []Layer{Descriptors, NoNewPrivs, Rlimits, AddressSpace, Landlock, Seccomp}
}

// Enter applies the given layers for good, to all threads of the process. A
// worker gives all of them; a test leaves one out to show what it is for. It
// goes on after one that fails, so that the others hold at least.
//
// It is called once.
func Enter(o Options, layers ...Layer) (held []Layer, missing []Missing) {
	e := entry{options: o}
	for _, l := range Layers() {
		if !slices.Contains(layers, l) {
			continue
		}
		if err := e.enter(l); err != nil {
			missing = append(missing, Missing{l, err})
		} else {
			held = append(held, l)
		}
	}
	if e.oneThread {
		// Until here, what one layer has set on the thread the next one needs.
		runtime.UnlockOSThread()
	}
	if e.oneThread && !slices.Contains(held, Seccomp) {
		held = slices.DeleteFunc(held, func(l Layer) bool { return l == NoNewPrivs })
		missing = append(missing, Missing{NoNewPrivs, errCgo})
	}
	return held, missing
}

// entry is one call of Enter.
type entry struct {
	options   Options
	oneThread bool // no_new_privs holds for the calling thread only, to which the goroutine is locked
}

func (e *entry) enter(l Layer) error {
	switch l {
	case Descriptors:
		return closeDescriptors(e.options.Keep)
	case NoNewPrivs:
		all, err := noNewPrivs()
		e.oneThread = err == nil && !all
		return err
	case Rlimits:
		return e.options.setRlimits()
	case AddressSpace:
		return e.options.boundAddressSpace()
	case Landlock:
		return enterLandlock()
	case Seccomp:
		return seccomp()
	}
	return nil
}
