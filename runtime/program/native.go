package program

import (
	"strings"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/fault"
)

// nativeFailure carries a fault through the interpreter, which adds the
// position.
type nativeFailure struct{ fault *fault.Fault }

func (n *nativeFailure) Error() string { return n.fault.Message }

// call makes one native call: bind, send, convert. It fails with a
// *nativeFailure.
func (e *engine) call(c *capability, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if e.fatal != nil {
		return nil, e.fatal
	}
	if !e.running {
		return nil, &nativeFailure{outsideMain(c)}
	}
	e.attempts++
	if e.attempts > e.limits.Calls {
		f := fault.Reached(fault.MaxNativeCalls, e.limits.Calls, "the program made more native calls than it may")
		f.Capability = c.name
		f.Hint = "ask for more in one call"
		return nil, &nativeFailure{f}
	}
	e.current.ordinal++
	arguments, refused := bind(c, args, kwargs, e.limits)
	if refused != nil {
		if f := e.caller.Refused(c.id); f != nil {
			return nil, &nativeFailure{f}
		}
		return nil, &nativeFailure{refused}
	}
	path := append(e.current.path[:len(e.current.path):len(e.current.path)], e.current.ordinal)
	sequence, f := e.caller.Call(c.id, path, arguments)
	if f != nil {
		return nil, &nativeFailure{f}
	}
	return e.await(sequence, c)
}

// outsideMain is the fault for a call outside of a main that is required.
func outsideMain(c *capability) *fault.Fault {
	return &fault.Fault{
		Class: fault.InvalidProgram, Capability: c.name, Hint: "move the call into main()",
		Message: c.name + " was called outside main: native calls are made only while main() runs",
	}
}

// answered turns the answer to a call of c into a value.
func (e *engine) answered(c *capability, reply []byte, f *fault.Fault) (starlark.Value, error) {
	if f != nil {
		return nil, &nativeFailure{attributed(f, c)}
	}
	e.received += int64(len(reply))
	if e.received > e.limits.ResultBytes {
		f := fault.Reached(fault.MaxIntermediateValueBytes, e.limits.ResultBytes, "the results of the native calls are too large together")
		f.Capability = c.name
		f.Hint = "ask for fewer items or fewer bytes per call"
		return nil, &nativeFailure{f}
	}
	value, err := decodeReply(reply, c.output, e.limits.Depth)
	if err != nil {
		f := e.fault(fault.Internal, "the result of "+c.name+" could not be read")
		f.Capability = c.name
		return nil, &nativeFailure{f}
	}
	return value, nil
}

// attributed is the host's fault with what this side knows of the call.
func attributed(f *fault.Fault, c *capability) *fault.Fault {
	out := *f
	if out.Capability == "" {
		out.Capability = c.name
	}
	if out.Class == fault.InvalidArguments && out.Hint == "" {
		out.Hint = c.signature
	}
	return &out
}

// excerpt shortens a hostile text for a message.
func excerpt(s string) string {
	const longest = 64
	if len(s) > longest {
		s = s[:longest] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}
