// Package storetest holds what opens a store to what package store promises,
// whichever database is below: its tests run the same suite. It must never be
// in a binary, and knows no database.
//
//	func TestMain(m *testing.M) { storetest.Main(m, backend{}) }
//	func TestStore(t *testing.T) { storetest.Run(t, backend{}) }
package storetest
