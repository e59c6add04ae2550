// Package schema loads a manifest, checks it and lowers it to its effective
// form, in which nothing is implicit. It must never know Go code, files on
// disk beyond those it is given, or the runtime's servers.
//
// A manifest goes through five steps, one file each or a few:
//
//	yaml.go, json.go      text → tree of nodes, each with its position
//	manifest.go, names.go the top level and the capabilities
//	lower*.go, resolve.go schemas → effective types, references → named types
//	default.go            defaults checked against the types they belong to
//	render.go             findings → text, JSON or GitHub workflow commands
//
// Every problem is reported at once, sorted by position; a manifest with one
// error is never returned.
//
//	files := map[string][]byte{"capabilities.yaml": text}
//	m, diags := schema.Load(files, "capabilities.yaml")
//	if err := schema.Render(os.Stderr, diags, schema.FormatText); err != nil {
//		return err
//	}
//	if m == nil {
//		return errInvalid
//	}
//	for _, c := range m.Capabilities {
//		fmt.Println(c.Name, c.Effect)
//	}
package schema
