package program_test

import (
	"testing"

	"github.com/capgen/capgen/runtime/fault"
)

// What except catches of a native call that failed, and what of it the program
// may know. What ends the execution it does not catch.
func TestExceptOfNativeCalls(t *testing.T) {
	const kind = `
def kind():
    try:
        records.lookup(key="a")
    except PermissionError as e:
        return ["PermissionError", e.code, e.message, e.capability]
    except CapabilityError as e:
        return ["CapabilityError", e.code, e.message, e.capability]
    except TypeError as e:
        return ["TypeError", e.code, e.message, e.capability]
    except BaseException:
        return ["another"]
`
	const both = kind + `tried = attempt(records.lookup, key="a")
kind() + [tried.error.code, tried.error.message, tried.error.capability]`
	for _, c := range []struct {
		class      fault.Class
		code, want string // no want: not caught
	}{
		{fault.CapabilityFailed, "no_such", `["CapabilityError","no_such","why","records.lookup","no_such","why","records.lookup"]`},
		{fault.CapabilityFailed, "", `["CapabilityError",null,"why","records.lookup","capability_failed","why","records.lookup"]`},
		{fault.PolicyFailure, "", `["CapabilityError",null,"why","records.lookup","policy_failure","why","records.lookup"]`},
		{fault.Denied, "", `["PermissionError",null,"why","records.lookup","permission_denied","why","records.lookup"]`},
		{fault.InvalidArguments, "", `["TypeError",null,"why","records.lookup","invalid_arguments","why","records.lookup"]`},
		{fault.Limit, "", ""}, {fault.Cancelled, "", ""}, {fault.Internal, "", ""}, {fault.WorkerLost, "", ""},
	} {
		t.Run(string(c.class)+" "+c.code, func(t *testing.T) {
			h := &host{t: t, reply: func(string) ([]byte, *fault.Fault) {
				return nil, &fault.Fault{Class: c.class, Code: c.code, Message: "why", Limit: limitOf(c.class), Bound: 1}
			}}
			if c.want == "" {
				for _, source := range []string{kind + "kind()", `attempt(records.lookup, key="a")`} {
					if got, f := runWith(t, source, limits(), h); f == nil || f.Class != c.class {
						t.Errorf("got %s, %v, want the failure itself", got, f)
					}
				}
				return
			}
			got, f := runWith(t, both, limits(), h)
			if f != nil || got != c.want {
				t.Errorf("got %s, %v, want %s", got, f, c.want)
			}
		})
	}
}

func limitOf(c fault.Class) string {
	if c == fault.Limit {
		return fault.MaxNativeCalls
	}
	return ""
}
