// Package cgrouptest gives a test a control group of the kernel's own. It is for
// tests only, and must never know what is placed in it.
//
//	dir, err := cgrouptest.Dir(t)
//	if err != nil {
//		t.Skip(err)
//	}
package cgrouptest
