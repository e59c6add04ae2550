// Package nearest finds the name that a mistyped one most likely means. It must
// never know what is named: manifests, programs and command lines all ask it,
// so that they agree on what is close.
//
//	nearest.Name("maxlength", []string{"minLength", "maxLength"}) // "maxLength"
//	nearest.Name("zzz", []string{"minLength", "maxLength"})       // ""
package nearest
