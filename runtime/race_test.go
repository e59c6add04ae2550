//go:build race

package runtime

// detectorMemory is how many times as much memory a process needs with the race
// detector: 5 to 10 times, by its documentation.
const detectorMemory = 10
