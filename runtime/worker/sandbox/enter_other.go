//go:build !linux || !(amd64 || arm64)

package sandbox

// Layers returns all layers that this system can have: none.
func Layers() []Layer { return nil }

// Enter does nothing here.
func Enter(Options, ...Layer) (held []Layer, missing []Missing) { return nil, nil }

// Facts looks at this system. It changes nothing.
func Facts() []Fact {
	return []Fact{{"OS boundary", "none here: a worker is a process of this user, with its steps, its deadline and a kill"}}
}
