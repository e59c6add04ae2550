package search

// synonyms are words that people use for the same thing of a program or of
// daily life. The list is short and general on purpose: words of one team's
// trade belong into its manifest, as search phrases. So do words that mean
// something else elsewhere, as a share, a track, a match or a property do.
func synonyms() [][]string {
	return [][]string{
		{"retrieve", "fetch", "obtain"},
		{"find", "search", "lookup", "locate", "query"},
		{"create", "make", "add", "new", "generate", "build"},
		{"delete", "remove", "erase"},
		{"update", "edit", "modify", "change"},
		{"list", "display"},
		{"compute", "calculate", "calculation"},
		{"convert", "conversion", "translate"},
		{"check", "verify", "validate"},
		{"recommend", "suggest", "suggestion", "recommendation"},
		{"send", "post", "publish"},
		{"run", "execute"},
		{"start", "launch"},
		{"cancel", "abort", "stop"},
		{"detail", "info", "information"},
		{"summarize", "summary"},
		{"directory", "folder"},
		{"repository", "repo"},
		{"user", "account"},
		{"document", "doc"},
		{"image", "picture", "photo", "photograph"},
		{"chart", "graph", "plot"},
		{"movie", "film"},
		{"song", "music"},
		{"company", "business", "firm", "corporation"},
		{"price", "cost"},
		{"discount", "coupon"},
		{"buy", "purchase"},
		{"crypto", "cryptocurrency"},
		{"house", "home"},
		{"car", "vehicle", "automobile"},
		{"email", "mail"},
		{"job", "career", "employment"},
		{"recipe", "meal", "food", "dish"},
		{"trip", "travel"},
		{"flight", "plane"},
		{"hotel", "accommodation", "lodging"},
		{"route", "direction"},
		{"address", "location", "place"},
		{"nearby", "near"},
		{"doctor", "physician"},
		{"schedule", "calendar"},
		{"author", "writer"},
	}
}
