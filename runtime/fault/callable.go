package fault

import (
	"fmt"
	"strings"
)

// InCallable stands before the message of a failure that happened in callable i
// of a call of parallel; for calls within each other one stands before another.
func InCallable(i int) string { return fmt.Sprintf("callable %d of parallel: ", i) }

// Callables cuts what InCallable writes, as often as it stands there, from
// message.
func Callables(message string) (callables, rest string) {
	rest = message
	for {
		var i int
		if n, err := fmt.Sscanf(rest, "callable %d of parallel:", &i); n != 1 || err != nil || i < 0 {
			break
		}
		after, found := strings.CutPrefix(rest, InCallable(i))
		if !found {
			break
		}
		rest = after
	}
	return message[:len(message)-len(rest)], rest
}
