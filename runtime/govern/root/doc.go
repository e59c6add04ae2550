// Package root opens directories and files below one directory, and never
// anything outside it, whatever changes on disk in the meantime. It must never
// know what the files are for: plans, approvals, capabilities.
//
// A [Dir] stands for an open directory; everything is named by one path segment
// below it (see [CheckName]). No symbolic link is followed, no other file
// system entered, nothing opened that is neither a directory nor a regular file
// with a single name. A change is durable, which is to say that it outlives a
// loss of power, once the Sync of what it changed has returned: a file's for
// its content and mode, a directory's for the names in it.
//
//	d, err := root.Open("/srv/strategies")
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	f, err := d.Create("entry.py", 0o600)
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	if _, err := f.Write(source); err != nil {
//		return err
//	}
//	if err := f.Sync(); err != nil {
//		return err
//	}
//	return d.Sync()
//
// Dir and File are interfaces so that package fault can lose power on them.
package root
