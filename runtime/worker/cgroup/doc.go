// Package cgroup makes control groups of version 2 below one that was delegated,
// bounds and kills them. It must never know what the processes in a group are.
//
//	parent, err := cgroup.Open("/sys/fs/cgroup/capgen", cgroup.ForMemory)
//	if err != nil {
//		return err
//	}
//	g, err := parent.Make(cgroup.Limits{Memory: 256 << 20})
//	if err != nil {
//		return err
//	}
//	g.Place(attributes) // of the process that is started then
//	...
//	err = errors.Join(g.Kill(), g.Remove())
package cgroup
