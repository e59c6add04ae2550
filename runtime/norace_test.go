//go:build !race

package runtime

const detectorMemory = 1
