// Package fault loses power on what package root describes, so that tests can
// hold code that must survive it to every state that a disk may be found in. It
// is for tests only, and must never know what is stored.
//
// A [Disk] keeps apart what programs see and what has been synced. Each change
// and each sync is a step; [Disk.StopAt] makes one of them, and all after it,
// fail as if the machine was gone. [Disk.Crashes] are then all disks that may be
// found afterwards: what was synced, with any choice of the changes that were
// not, each of them whole, but for the content of files, of which any part may
// be there.
//
//	for n := 1; ; n++ {
//		disk := fault.NewDisk()
//		disk.StopAt(n)
//		if err := work(disk.Root()); err == nil {
//			break // n is past the last step
//		}
//		for after := range disk.Crashes() {
//			check(after.Root())
//		}
//	}
//
// This is stricter than any journaling file system, which keeps most changes in
// order: code that holds here does not depend on which one it runs on.
package fault
