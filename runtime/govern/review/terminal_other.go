//go:build !linux

package review

import "os"

// terminalColumns is how wide a terminal is: not known here, where nothing lands either.
func terminalColumns(*os.File) int { return 0 }
