package schema

// Rule is one reason for a finding.
type Rule struct {
	// ID is stable: it stands in brackets behind messages.
	ID string
	// Text explains the rule in one sentence.
	Text string
}

const (
	ruleFileMissing      = "file-missing"
	ruleFileTooLarge     = "file-too-large"
	ruleBadPath          = "bad-path"
	ruleBadInclude       = "bad-include"
	ruleEncoding         = "encoding"
	ruleYAMLSyntax       = "yaml-syntax"
	ruleYAMLFeature      = "yaml-feature"
	ruleJSONSyntax       = "json-syntax"
	ruleTooDeep          = "too-deep"
	ruleTooManyNodes     = "too-many-nodes"
	ruleTooLarge         = "too-large"
	ruleTooManyFindings  = "too-many-findings"
	ruleDuplicateKey     = "duplicate-key"
	ruleAmbiguousScalar  = "ambiguous-scalar"
	ruleWrongType        = "wrong-type"
	ruleMissingField     = "missing-field"
	ruleUnknownKey       = "unknown-key"
	ruleUnsupported      = "unsupported"
	ruleNotInSubset      = "not-in-subset"
	ruleWrongKeyword     = "wrong-keyword"
	ruleBadValue         = "bad-value"
	ruleBadText          = "bad-text"
	ruleInvisibleText    = "invisible-text"
	ruleLimit            = "limit"
	ruleBadName          = "bad-name"
	ruleReservedName     = "reserved-name"
	ruleNameCollision    = "name-collision"
	ruleBadID            = "bad-id"
	ruleIDCollision      = "id-collision"
	ruleBadScope         = "bad-scope"
	ruleBadRef           = "bad-ref"
	ruleRefSibling       = "ref-sibling"
	ruleUnusedType       = "unused-type"
	ruleEndlessType      = "endless-type"
	ruleInputNotObject   = "input-not-object"
	ruleBadBound         = "bad-bound"
	ruleEmptyRange       = "empty-range"
	ruleInexactNumber    = "inexact-number"
	ruleBadEnum          = "bad-enum"
	ruleBadPattern       = "bad-pattern"
	ruleBadRequired      = "bad-required"
	ruleBadDefault       = "bad-default"
	ruleBadExample       = "bad-example"
	ruleMisplacedDefault = "misplaced-default"
	ruleNullTwice        = "null-twice"
	ruleOpaque           = "opaque"
	ruleBadUnion         = "bad-union"
	ruleMergeConflict    = "merge-conflict"
	ruleBadUnique        = "bad-unique"
	ruleBadDuration      = "bad-duration"
	ruleBadPointer       = "bad-pointer"
	ruleBadPagination    = "bad-pagination"
	ruleBadLimits        = "bad-limits"
	ruleBadFixed         = "bad-fixed"
	ruleBadSize          = "bad-size"
	ruleBadRetry         = "bad-retry"
	ruleBadApproval      = "bad-approval"
	ruleBadRun           = "bad-run"
	ruleUnconfirmed      = "unconfirmed"
	ruleBadSelector      = "bad-selector"
	ruleUnreached        = "unreached"
	ruleLiteralSecret    = "literal-secret"
	ruleNeedsApproval    = "needs-approval"
	ruleBadDirectTool    = "bad-direct-tool"
)

// Rules lists every rule that Load can report, in the order in which a
// manifest meets them.
func Rules() []Rule {
	return []Rule{
		{ruleFileMissing, "The manifest is there, and every file that it includes or refers to."},
		{ruleFileTooLarge, "A manifest file has at most 4 MiB, all that it consists of 16 MiB."},
		{ruleBadPath, "A path names one file below the manifest's directory, relative to the file it stands in, with / between its parts."},
		{ruleBadInclude, "Only the manifest includes parts, each once."},
		{ruleEncoding, "A manifest file is UTF-8 without a byte order mark, with \\n or \\r\\n line ends and no control characters."},
		{ruleYAMLSyntax, "The file is YAML."},
		{ruleYAMLFeature, "Anchors, aliases, merge keys, tags, directives, keys that are not strings and several documents are refused: they hide what the contract says."},
		{ruleJSONSyntax, "A file called .json is strict JSON."},
		{ruleTooDeep, "A file nests at most 100 deep, a value that a schema describes at most 32."},
		{ruleTooManyNodes, "A manifest's files hold at most 1,000,000 values."},
		{ruleTooLarge, "With every reference written out, a capability's schemas have at most 10,000 parts, a manifest's 1,000,000, and its texts 32 MiB."},
		{ruleTooManyFindings, "Findings beyond 200 are counted, not shown."},
		{ruleDuplicateKey, "A key stands once in a mapping; the last one never wins."},
		{ruleAmbiguousScalar, "A plain YAML scalar is JSON's null, true, false or number, or a string to every YAML version."},
		{ruleWrongType, "A field holds the kind of value it is declared to hold."},
		{ruleMissingField, "Required fields are written."},
		{ruleUnknownKey, "Every key is known; nothing is ignored."},
		{ruleUnsupported, "The field belongs to the manifest, but this version does not support it yet."},
		{ruleNotInSubset, "The keyword is JSON Schema, but not of the subset that a manifest takes."},
		{ruleWrongKeyword, "A keyword stands only with the types it says something about."},
		{ruleBadValue, "A field that takes one of a few words or a certain form holds one."},
		{ruleBadText, "Texts are not empty, keep their length and hold no control characters."},
		{ruleInvisibleText, "Texts hold no zero-width, bidirectional or tag characters: a reviewer could not see them."},
		{ruleLimit, "Counts stay within their limits."},
		{ruleBadName, "Names have the form that programs and Go code need."},
		{ruleReservedName, "Names leave alone what the language and the generated tree use."},
		{ruleNameCollision, "A name is one thing: no two capabilities or types share it, and no capability is another's namespace."},
		{ruleBadID, "An id is 1 to 128 printable ASCII characters without spaces."},
		{ruleIDCollision, "An id belongs to one capability and is no other one's name."},
		{ruleBadScope, "A scope is a token of RFC 6749 section 3.3, at most 128 bytes, written once."},
		{ruleBadRef, "A reference is #/types/NAME, #/$defs/NAME or one into a schema file, and what it names is declared."},
		{ruleRefSibling, "Beside $ref stands nothing but a description."},
		{ruleUnusedType, "Every named type is used by a capability."},
		{ruleEndlessType, "A type that holds itself has values that end."},
		{ruleInputNotObject, "The input of a capability is an object: its properties are the parameters."},
		{ruleBadBound, "A bound has the form and the size its type allows."},
		{ruleEmptyRange, "Bounds leave at least one value."},
		{ruleInexactNumber, "A number is written with the digits a 64-bit float keeps."},
		{ruleBadEnum, "An enum lists at least one string, each once."},
		{ruleBadPattern, "A pattern means the same in RE2 and in ECMA-262."},
		{ruleBadRequired, "required lists declared properties, each once."},
		{ruleBadDefault, "A default satisfies its own schema and stands on an optional property."},
		{ruleBadExample, "An example satisfies the schemas of its capability, which has no other of the same input or title."},
		{ruleMisplacedDefault, "A default stands on a property of an object, nowhere else."},
		{ruleNullTwice, "A schema takes null once: two nulls would look the same."},
		{ruleBadUnion, "The variants of a union are told apart by a const tag, or by their JSON type."},
		{ruleMergeConflict, "A property comes from one of the objects that allOf merges."},
		{ruleBadPointer, "A pointer of keep leads to a part of the output that its schema declares."},
		{ruleBadPagination, "Pagination names an optional parameter, and the cursor and list of an output that can say that it is the last."},
		{ruleBadLimits, "Only a list can be cut."},
		{ruleBadFixed, "What a manifest fixes is a parameter of its capability."},
		{ruleBadDuration, "A duration is a whole number and its unit: 250ms, 2s, 5m."},
		{ruleBadSize, "A size is a whole number and its unit, within its bounds: 64KiB, 256MiB, 2GiB."},
		{ruleBadRetry, "A handler is called again only where that changes nothing more."},
		{ruleBadApproval, "Approval stands with what changes something, and with nothing that repeats a call or shapes its result."},
		{ruleBadRun, "A runner and a sandbox stand with effect run, which reaches nothing outside."},
		{ruleUnconfirmed, "A person has confirmed what an importer inferred, and removed the mark."},
		{ruleBadSelector, "A selector of a deployment matches a capability and stands once, and a deployment holds something."},
		{ruleUnreached, "Every capability is held by a deployment."},
		{ruleLiteralSecret, "A credential is given by reference; no secret is in a manifest."},
		{ruleNeedsApproval, "A deployment that requires approval holds nothing that changes or runs things without another's approval."},
		{ruleBadDirectTool, "A capability that is a tool of its own has a name that is no other tool's, no type that may hold itself, and no approval, unless it is a run."},
		{ruleBadUnique, "Items that have to differ hold no defaults."},
		{ruleOpaque, "A value whose shape is known is not opaque."},
	}
}
