package host

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestRoomForMany(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	percent := debug.SetGCPercent(123)
	defer debug.SetGCPercent(percent)
	now := func() (int, int) {
		percent := debug.SetGCPercent(123)
		debug.SetGCPercent(percent)
		return runtime.GOMAXPROCS(0), percent
	}
	for _, tt := range []struct {
		environment         map[string]string
		processors, percent int
	}{
		{nil, processors + spareProcessors, gcPercent},
		{map[string]string{"GOMAXPROCS": "", "GOGC": ""}, processors + spareProcessors, gcPercent},
		{map[string]string{"GOMAXPROCS": "7"}, processors, gcPercent},
		{map[string]string{"GOGC": "123"}, processors + spareProcessors, 123},
	} {
		p := &program{lookup: func(name string) (string, bool) { value, given := tt.environment[name]; return value, given }}
		undo := p.roomForMany()
		if n, gc := now(); n != tt.processors || gc != tt.percent {
			t.Errorf("%v: %d processors, collecting at %d %%", tt.environment, n, gc)
		}
		undo()
		if n, gc := now(); n != processors || gc != 123 {
			t.Errorf("%v: left %d processors, collecting at %d %%", tt.environment, n, gc)
		}
	}
}
