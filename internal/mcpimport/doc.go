// Package mcpimport turns an MCP tools/list document into entries of a
// manifest. It must never know a server, a network or a file: bytes go in, a
// manifest and findings come out, and all of the bytes are hostile.
//
// Two promises hold. A schema is never widened: whatever the entry takes, the
// tool's own schema takes too. And nothing vanishes: what cannot be said in a
// manifest is left out where leaving it out narrows, else the tool is, and
// either way a finding names the place and the reason.
//
// The steps, one file each:
//
//	tree.go, document.go  text → ordered tree → tools
//	names.go, effect.go   a name, a proposal of what the tool may do
//	lower*.go, refs.go    JSON Schema as servers write it → as manifests take it
//	text.go, yaml.go      words that hide nothing, and the file
//	verify.go             schema.Load and codegen.Generate judge the result
//
//	r := mcpimport.Import(text, mcpimport.Options{File: "notes.json", Namespace: "notes"})
//	os.Stdout.Write(r.Manifest)
//	schema.Render(os.Stderr, r.Findings, schema.FormatText)
package mcpimport
