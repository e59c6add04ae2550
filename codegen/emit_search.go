package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/runtime/search"
	"github.com/capgen/capgen/schema"
)

// searchEntry
//
//	runtime.SearchEntry{
//		Name:      "list",
//		Namespace: "file",
//		Summary:   "list entri/entry directori/directory",
//		…
//	}
func searchEntry(c *schema.Capability) jen.Code {
	e := search.Analyze(searchTexts(c))
	var members []jen.Code
	for _, m := range []struct{ name, value string }{
		{"Name", e.Name},
		{"Namespace", e.Namespace},
		{"Phrases", e.Phrases},
		{"Summary", e.Summary},
		{"Description", e.Description},
		{"ParameterNames", e.ParameterNames},
		{"ParameterDescriptions", e.ParameterDescriptions},
	} {
		if m.value != "" {
			members = append(members, jen.Id(m.name).Op(":").Add(text(m.value)))
		}
	}
	return jen.Qual(runtimePath, "SearchEntry").Add(multiline("{", "}", members))
}

// SearchIndex ranks the capabilities of a manifest as a server does that holds
// them all. With its method Rank a report on a change of texts tells where a
// capability stood for a query, and where it stands.
func SearchIndex(m *schema.Manifest) *search.Index {
	var documents []search.Document
	for _, c := range m.Capabilities {
		documents = append(documents, search.Document{
			Name: c.Name, Entry: search.Analyze(searchTexts(c)), Was: c.Was, Deprecated: c.Deprecated != nil,
		})
	}
	return search.New(documents)
}

// searchTexts are all texts of a capability that should find it.
func searchTexts(c *schema.Capability) search.Texts {
	t := search.Texts{Name: c.Name, Summary: c.Summary, Description: c.Description, Phrases: c.Search}
	for _, p := range inputProperties(c.Parameters()) {
		t.Parameters = append(t.Parameters, search.Parameter{Name: p.Name, Description: describe(p.Type)})
	}
	return t
}
