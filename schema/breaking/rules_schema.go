package breaking

// valueRules are about what a value is.
func valueRules() []Rule {
	return []Rule{
		rule("input-kind-changed", Breaking, Wire, "A parameter takes values of another type.", Programs, GoCode, Policies, Approvals),
		rule("output-kind-changed", Breaking, Wire, "A result holds values of another type.", Programs, GoCode),
		rule("input-int64-changed", Breaking, Canon, "An integer of a parameter has 64 bits now, or no longer: in canonical bytes it is digits in a string, or a number.", Policies, Approvals, Programs),
		rule("output-int64-changed", Breaking, Wire, "An integer of a result has 64 bits now, or no longer: in JSON it is digits in a string, or a number.", Programs),
		rule("input-base64-changed", Breaking, Wire, "A parameter takes bytes instead of text, or text instead of bytes.", Programs, GoCode),
		rule("output-base64-changed", Breaking, Wire, "A result holds bytes instead of text, or text instead of bytes.", Programs, GoCode),
		rule("input-integer-widened", Breaking, Go, "A parameter takes any number where it took integers.", GoCode, Policies),
		rule("input-number-narrowed", Breaking, Wire, "A parameter takes integers only where it took any number.", Programs, GoCode),
		rule("output-integer-widened", Breaking, Wire, "A result may hold any number where it held integers.", Programs, GoCode),
		rule("output-number-narrowed", Breaking, Go, "A result holds integers only where it held any number.", GoCode),
		rule("input-opaque-added", Breaking, Go, "Nothing is checked of a parameter any more.", GoCode, Policies),
		rule("input-opaque-removed", Breaking, Wire, "A parameter that took anything has a schema now.", Programs, GoCode),
		rule("output-opaque-added", Breaking, Wire, "Nothing is promised of a part of a result any more.", Programs, GoCode),
		rule("output-opaque-removed", Breaking, Go, "A part of a result of which nothing was promised has a schema now.", GoCode),
		rule("input-free-added", Breaking, Go, "A parameter takes an object of any members where they were declared.", GoCode, Policies),
		rule("input-free-removed", Breaking, Wire, "A parameter that took an object of any members declares them now.", Programs, GoCode),
		rule("output-free-added", Breaking, Wire, "A part of a result is an object of any members where they were declared.", Programs, GoCode),
		rule("output-free-removed", Breaking, Go, "A part of a result that was an object of any members declares them now.", GoCode),
		rule("input-nullable-added", Breaking, Go, "A parameter takes null, which the handler has to tell apart.", GoCode),
		rule("input-nullable-removed", Breaking, Wire, "A parameter takes null no longer.", Programs, GoCode),
		rule("output-nullable-added", Breaking, Wire, "A part of a result may be null now.", Programs, GoCode),
		rule("output-nullable-removed", Breaking, Go, "A part of a result is never null any more.", GoCode),
		rule("input-variant-added", Warning, Go, "A parameter takes a further variant, which the handler has to deal with.", GoCode),
		rule("input-variant-removed", Breaking, Wire, "A parameter takes a variant less.", Programs, GoCode),
		rule("output-variant-added", Breaking, Wire, "A part of a result may be a further variant.", Programs),
		rule("output-variant-removed", Breaking, Go, "A part of a result is never a variant that it could be; its Go type is gone.", GoCode),
		rule("input-union-tag-changed", Breaking, Wire, "Variants of a parameter are told apart in another way.", Programs, GoCode),
		rule("output-union-tag-changed", Breaking, Wire, "Variants of a result are told apart in another way.", Programs, GoCode),
		rule("variants-reordered", Note, Prompt, "Variants stand in another order."),
		rule("input-enum-added", Breaking, Wire, "A parameter that took any text takes listed words only.", Programs, GoCode),
		rule("input-enum-removed", Breaking, Go, "A parameter takes any text where it took listed words.", GoCode, Policies),
		rule("output-enum-added", Breaking, Go, "A part of a result that could be any text is one of listed words.", GoCode),
		rule("output-enum-removed", Breaking, Wire, "A part of a result may be any text where it was one of listed words.", Programs, GoCode),
		rule("input-enum-value-added", Note, Wire, "A parameter takes a further word."),
		rule("input-enum-value-removed", Breaking, Wire, "A parameter takes a word less, or an open list no longer names it.", Programs, GoCode),
		rule("output-enum-value-added", Breaking, Wire, "A part of a result may be a further word.", Programs),
		rule("output-open-enum-value-added", Note, Wire, "An open list of words of a result names a further one."),
		rule("output-enum-value-removed", Breaking, Go, "A part of a result is never a word that it could be; its Go constant is gone.", GoCode),
		rule("input-enum-opened", Warning, Go, "A parameter takes words beyond the listed ones.", GoCode, Policies),
		rule("input-enum-closed", Breaking, Wire, "A parameter takes the listed words only, where it took others too.", Programs, GoCode),
		rule("output-enum-opened", Breaking, Wire, "A part of a result may be a word beyond the listed ones.", Programs),
		rule("output-enum-closed", Warning, Go, "A part of a result is one of the listed words only.", GoCode),
		rule("enum-reordered", Note, Prompt, "Words stand in another order."),
		rule("input-const-added", Breaking, Wire, "A boolean parameter takes one of the two only.", Programs),
		rule("input-const-removed", Note, Wire, "A boolean parameter takes both."),
		rule("input-const-changed", Breaking, Wire, "A boolean parameter takes the other one only.", Programs),
		rule("output-const-added", Warning, Wire, "A boolean of a result is one of the two only: the handler's other one fails.", GoCode),
		rule("output-const-removed", Breaking, Wire, "A boolean of a result may be both.", Programs),
		rule("output-const-changed", Breaking, Wire, "A boolean of a result is the other one only.", Programs, GoCode),
	}
}

// propertyRules are about members of objects, parameters among them.
func propertyRules() []Rule {
	return []Rule{
		rule("input-property-required", Breaking, Wire, "A parameter or member is new that callers must give.", Programs, GoCode),
		rule("input-property-default", Warning, Canon, "A parameter or member with a default is new: the canonical bytes of every call hold it.", Policies, Approvals),
		rule("input-property-optional", Note, Wire, "An optional parameter or member is new."),
		rule("input-property-removed", Breaking, Wire, "A parameter or member is gone.", Programs, GoCode, Policies),
		rule("output-property-required", Warning, Go, "A member of a result is new that is always there: a handler that does not set it returns the zero value.", GoCode),
		rule("output-property-optional", Note, Wire, "A member of a result is new that may be there."),
		rule("output-property-removed", Breaking, Wire, "A member of a result is gone.", Programs, GoCode),
		rule("input-required-added", Breaking, Wire, "A parameter or member that could be left out must be given.", Programs, GoCode),
		rule("input-required-removed", Breaking, Go, "A parameter or member may be left out: the handler has to tell its absence.", GoCode),
		rule("input-required-to-default", Note, Wire, "A parameter or member may be left out, and has a default then."),
		rule("output-required-added", Breaking, Go, "A member of a result that could be absent is always there.", GoCode),
		rule("output-required-removed", Breaking, Wire, "A member of a result may be absent.", Programs, GoCode),
		rule("output-required-to-default", Note, Go, "A member of a result that is always there has a default."),
		rule("output-default-to-required", Note, Go, "A member of a result that is always there has no default any more."),
		rule("input-default-added", Breaking, Canon, "What is left out has a value now: canonical bytes, and hashes of approvals, change.", GoCode, Policies, Approvals),
		rule("input-default-changed", Breaking, Canon, "What is left out has another value: calls do something else, and canonical bytes change.", Programs, Policies, Approvals),
		rule("input-default-removed", Breaking, Canon, "What is left out has no value any more: canonical bytes, and hashes of approvals, change.", Programs, GoCode, Policies, Approvals),
		rule("output-default-added", Breaking, Go, "A member of a result that could be absent is always filled in.", GoCode),
		rule("output-default-changed", Warning, Wire, "A member of a result has another default.", Programs),
		rule("output-default-removed", Breaking, Wire, "A member of a result that was always filled in may be absent.", Programs, GoCode),
		rule("properties-reordered", Note, Go, "Parameters or members stand in another order: so do the fields of the Go struct."),
	}
}

// boundKeywords are the keywords of which a value takes more or less.
func boundKeywords() []string {
	return []string{
		"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems",
	}
}

// boundRules are four for each keyword that bounds a value, and six for each of
// the two of which nobody can tell which of two texts takes more.
func boundRules() []Rule {
	var out []Rule
	for _, keyword := range boundKeywords() {
		id := kebab(keyword)
		out = append(out,
			rule("input-"+id+"-tightened", Breaking, Wire, keyword+" of a parameter takes less.", Programs),
			rule("input-"+id+"-loosened", Note, Wire, keyword+" of a parameter takes more."),
			rule("output-"+id+"-tightened", Warning, Wire, keyword+" of a result allows less: what the handler returns beyond it fails.", GoCode),
			rule("output-"+id+"-loosened", Breaking, Wire, keyword+" of a result allows more.", Programs),
		)
	}
	for _, keyword := range []string{"pattern", "format"} {
		level, category := Breaking, Wire
		var breaks []Party
		if keyword == "format" {
			breaks = append(breaks, GoCode)
		}
		out = append(out,
			rule("input-"+keyword+"-added", level, category, "A parameter has a "+keyword+" now.", append([]Party{Programs}, breaks...)...),
			rule("input-"+keyword+"-changed", level, category, "The "+keyword+" of a parameter is another.", append([]Party{Programs}, breaks...)...),
			rule("output-"+keyword+"-changed", level, category, "The "+keyword+" of a result is another.", append([]Party{Programs}, breaks...)...),
			rule("output-"+keyword+"-removed", level, category, "A result has no "+keyword+" any more.", append([]Party{Programs}, breaks...)...),
		)
	}
	return append(out,
		rule("input-pattern-removed", Note, Wire, "A parameter has no pattern any more."),
		rule("output-pattern-added", Warning, Wire, "A result has a pattern now: what the handler returns against it fails.", GoCode),
		rule("input-format-removed", Breaking, Go, "A parameter has no format any more.", GoCode),
		rule("output-format-added", Breaking, Go, "A result has a format now: what the handler returns against it fails.", GoCode),
	)
}

// kebab is max-length for maxLength.
func kebab(keyword string) string {
	var b []byte
	for i := range len(keyword) {
		if c := keyword[i]; 'A' <= c && c <= 'Z' {
			b = append(b, '-', c-'A'+'a')
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}
