//go:build !linux || !(amd64 || arm64)

package sandbox

// Layers returns all layers that this system can have: none.
func Layers() []Layer { return nil }

// Enter does nothing here.
func Enter(Options, ...Layer) (held []Layer, missing []Missing) { return nil, nil }
