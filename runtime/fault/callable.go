package fault

import (
	"fmt"
	"regexp"
	"sync"
)

// inCallable is what InCallable writes before a message.
var inCallable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:callable (?:0|[1-9]\d*) of )+parallel: `) })

// InCallable is the message of a failure that happened in callable i of a call
// of parallel. Of calls within each other it names the innermost callable first:
// "callable 2 of callable 0 of parallel: …".
func InCallable(i int, message string) string {
	callables, rest := Callables(message)
	if callables == "" {
		return fmt.Sprintf("callable %d of parallel: %s", i, message)
	}
	const end = "parallel: "
	return fmt.Sprintf("%scallable %d of %s%s", callables[:len(callables)-len(end)], i, end, rest)
}

// Callables cuts what InCallable writes from message.
func Callables(message string) (callables, rest string) {
	n := len(inCallable().FindString(message))
	return message[:n], message[n:]
}
