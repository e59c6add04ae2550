// Package lint finds what is allowed in a manifest and yet not good in it:
// orders to the model, secrets, inputs without a bound, names that belie an
// effect. It must never know a file, a command line or generated code: a
// manifest goes in, findings come out, always the same for the same manifest.
//
// What a manifest cannot be at all is schema's to say; lint only sees what
// schema.Load has taken. The steps, one file each:
//
//	rules.go        the table of rules: id, level, sentence, explanation
//	texts.go        every text of a manifest, with whose it is and where
//	patterns.go     what rules about texts look for
//	prose.go        rules about texts
//	capability.go   rules about one capability
//	input.go        rules about parameters
//	catalog.go      rules about several capabilities
//	allow.go        what people have accepted
//
//	m, _ := schema.Load(files, "capabilities.yaml")
//	for _, f := range lint.Check(m) {
//		fmt.Println(f.Target, f.Diagnostic)
//	}
package lint
