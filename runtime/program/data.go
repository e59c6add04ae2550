package program

import "github.com/capgen/capgen/runtime/fault"

// dataName is the name of what a program is given beside its source.
const dataName = "data"

// readData makes data of its text, if the program names it. It is a dict that
// nothing can change, with all that is in it: the same for every part of the
// program, and what the host hashed.
func (e *engine) readData() *fault.Fault {
	if !e.predeclared.Has(dataName) {
		return nil
	}
	v, err := e.fromJSON(e.data)
	if err != nil {
		if e.outOfSteps {
			return e.runtimeFault(err)
		}
		return e.fault(fault.InvalidProgram, "data cannot be read: "+truncate(err.Error(), maxText))
	}
	v.Freeze()
	e.predeclared[dataName] = v
	return nil
}
