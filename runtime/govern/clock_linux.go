package govern

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/token"
)

// now is the moment by both clocks. What the kernel does not tell is left out:
// then the wall clock alone counts.
func now() token.Instant {
	i := token.Instant{Wall: time.Now().UTC()}
	var ts unix.Timespec
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return i
	}
	i.Boot, i.Up = strings.TrimSpace(string(boot)), time.Duration(ts.Nano())
	return i
}
