package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// yamlReader turns the node tree of the YAML library into ours.
type yamlReader struct {
	treeBuilder
	cursor cursor
	forms  scalarForms
}

// readYAML reads one YAML document. nil means that the file holds no value,
// with the reason reported.
func readYAML(r *report, l limits, src *source) *node {
	y := &yamlReader{
		treeBuilder: treeBuilder{report: r, limits: l},
		cursor:      cursor{source: src},
		forms:       newScalarForms(),
	}
	document := y.document()
	if document == nil {
		return nil
	}
	return y.convert(document.Content[0], 0)
}

// document returns the only document of the file.
func (y *yamlReader) document() *yaml.Node {
	// The library's own depth check guards its recursion; it counts flow
	// and block nesting apart, so it is only a bound, and convert checks
	// the limit proper.
	tooDeep := false
	guard := loaderlimits.New(loaderlimits.AliasValue(0), loaderlimits.DepthFunc(func(depth int, _ *yaml.DepthContext) error {
		if tooDeep = depth > 2*y.limits.fileDepth; tooDeep {
			return errTooDeep
		}
		return nil
	}))
	loader, err := yaml.NewLoader(bytes.NewReader(y.cursor.text), yaml.WithStreamNodes(), yaml.WithPlugin(guard))
	if err != nil {
		y.errorf(y.cursor.at(0), ruleYAMLSyntax, "%s", plain(err.Error(), maxPlain))
		return nil
	}
	var document *yaml.Node
	for {
		var n yaml.Node
		if err := loader.Load(&n); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			y.syntaxError(err, tooDeep)
			return nil
		}
		switch {
		case n.Kind == yaml.StreamNode:
			if n.Stream != nil && (n.Stream.Version != nil || len(n.Stream.TagDirectives) > 0) {
				y.errorf(y.cursor.position(n.Line, n.Column), ruleYAMLFeature, "a YAML directive").
					hint("remove the line that starts with %%")
				return nil
			}
		case document != nil:
			y.errorf(y.cursor.position(n.Line, n.Column), ruleYAMLFeature, "a second document in one file").
				hint("a manifest is one document: remove the --- line and what follows")
			return nil
		default:
			document = &n
		}
	}
	if document == nil || len(document.Content) != 1 {
		y.errorf(y.cursor.at(0), ruleYAMLSyntax, "the file is empty").hint("a manifest starts with capgen: 1")
		return nil
	}
	return document
}

var errTooDeep = errors.New("nested too deep")

func (y *yamlReader) syntaxError(err error, tooDeep bool) {
	at, message := y.cursor.at(0), err.Error()
	var located *yaml.LoadError
	if errors.As(err, &located) {
		message = located.Message
		if located.Mark.Line > 0 {
			at = y.cursor.position(located.Mark.Line, located.Mark.Column)
		}
		if located.ContextMsg != "" {
			message += ", " + located.ContextMsg
		}
	}
	if tooDeep {
		y.errorf(at, ruleTooDeep, "nested more than %d deep", y.limits.fileDepth).hint("flatten it")
		return
	}
	f := y.errorf(at, ruleYAMLSyntax, "%s", plain(message, maxPlain))
	f.Hint = y.syntaxHint(message)
	if located != nil && located.ContextMark.Line > 0 {
		// Where a bracket or quote was opened that the parser still waits
		// for: the mistake is more often there than where it gave up.
		if opened := y.cursor.position(located.ContextMark.Line, located.ContextMark.Column); opened.Line != at.Line {
			f.related(opened)
		}
	}
}

// syntaxHint says what a person most likely did where the cursor stands; the
// parser has words for its grammar only. Empty when nothing is likely.
func (y *yamlReader) syntaxHint(message string) string {
	if y.cursor.line == 0 {
		return "" // the parser named no place
	}
	start := y.cursor.lines[y.cursor.line-1]
	line, _, _ := bytes.Cut(y.cursor.text[start:], []byte("\n"))
	before := string(line[:min(len(line), y.cursor.offset-start)])
	if y.cursor.offset-start == 0 && y.cursor.line > 1 {
		// The parser stands behind the end of a line: that line is meant.
		before = string(bytes.TrimRight(y.cursor.text[y.cursor.lines[y.cursor.line-2]:start], "\r\n"))
	}
	switch {
	case strings.Contains(message, "cannot start any token") && y.cursor.byteAt() == '\t':
		return "indent with spaces: YAML takes no tab there"
	case strings.Contains(message, "cannot start any token") && strings.IndexByte("@%`", y.cursor.byteAt()) >= 0:
		return fmt.Sprintf("quote the value: %s has a meaning of its own at the start of one", quote(string(rune(y.cursor.byteAt()))))
	case strings.Contains(message, "unknown anchor"):
		return "quote the value if it is a string: a * at its start refers to an anchor, which a manifest does not take"
	case strings.Contains(message, "mapping values are not allowed"):
		return "quote the value if the colon belongs to it; otherwise mend the indentation: keys of one mapping stand in one column"
	case strings.Contains(before, "$ref: #"):
		return "quote the reference: \"#/types/NAME\"; without quotes the # starts a comment"
	case strings.Contains(message, "while scanning a quoted"):
		if y.cursor.offset == len(y.cursor.text) {
			return "close the quotation mark that is open"
		}
	case strings.Contains(message, "while parsing a flow"):
		return "close the bracket that is open, or put a comma between the entries"
	case strings.Contains(message, "while parsing a block") && strings.Contains(before, "'"):
		return "inside single quotes write an apostrophe twice"
	case strings.Contains(message, "while parsing a block"):
		return "mend the indentation: entries of one list, and keys of one mapping, stand in one column"
	}
	return ""
}

// convert returns nil when reading has to stop.
func (y *yamlReader) convert(from *yaml.Node, depth int) *node {
	at := y.cursor.position(from.Line, from.Column)
	if !y.enter(at, depth) {
		return nil
	}
	n := &node{pos: at}
	if !y.features(from, at) {
		return n
	}
	switch from.Kind {
	case yaml.ScalarNode:
		y.scalar(n, from)
	case yaml.SequenceNode:
		n.kind = listNode
		for _, c := range from.Content {
			item := y.convert(c, depth+1)
			if item == nil {
				return nil
			}
			n.items = append(n.items, item)
		}
	case yaml.MappingNode:
		n.kind = mappingNode
		var seen keySet
		for i := 0; i+1 < len(from.Content); i += 2 {
			m, ok := y.key(from.Content[i])
			m.value = y.convert(from.Content[i+1], depth+1)
			if m.value == nil {
				return nil
			}
			if ok {
				y.addMember(n, &seen, m)
			}
		}
	default:
		y.errorf(at, ruleYAMLFeature, "a kind of YAML node that a manifest does not take")
	}
	return n
}

// features refuses what hides the contract or depends on the parser. It has
// to be called right after the cursor was set to the node.
func (y *yamlReader) features(from *yaml.Node, at Position) bool {
	// The tag ! leaves no trace in the node, but no untagged value starts with
	// that byte. A value that is left out has no text of its own: there the
	// cursor stands on what follows.
	tagged := y.cursor.byteAt() == '!' &&
		(from.Kind != yaml.ScalarNode || from.Value != "" || from.Style != 0)
	switch {
	case from.Kind == yaml.AliasNode:
		y.errorf(at, ruleYAMLFeature, "an alias (*%s)", plain(from.Value, maxQuoted)).
			hint("write the value out, or share a schema under types and refer to it by $ref")
	case from.Anchor != "":
		y.errorf(at, ruleYAMLFeature, "an anchor (&%s)", plain(from.Anchor, maxQuoted)).
			hint("remove it; shared schemas go under types")
	case from.Style&yaml.TaggedStyle != 0 || tagged:
		y.errorf(at, ruleYAMLFeature, "a tag (%s)", plain(from.Tag, maxQuoted)).
			hint("remove it; quote the value if it is a string")
	default:
		return true
	}
	return false
}

// stringStyles are the styles whose scalars are strings whatever they say.
const stringStyles = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func (y *yamlReader) scalar(n *node, from *yaml.Node) {
	n.text = from.Value
	if from.Style&stringStyles != 0 {
		n.kind = stringNode
		return
	}
	kind, ok := y.forms.classify(from.Value)
	switch {
	case ok:
		n.kind = kind
	case from.Value == "":
		y.errorf(n.pos, ruleAmbiguousScalar, "no value").
			hint(`write one; an empty string is ""`)
	default:
		y.errorf(n.pos, ruleAmbiguousScalar, "%s is not the same value to every YAML parser", quote(from.Value)).
			hint("if it is a string, quote it: %s; numbers, true, false and null are written as in JSON", quote(from.Value))
	}
}

// key reads a mapping's key; ok is false for one that is refused.
func (y *yamlReader) key(from *yaml.Node) (m member, ok bool) {
	at := y.cursor.position(from.Line, from.Column)
	m = member{key: from.Value, pos: at}
	if !y.features(from, at) {
		return m, false
	}
	switch {
	case from.Kind != yaml.ScalarNode:
		y.errorf(at, ruleYAMLFeature, "a key that is not a string").hint("keys are words")
	case from.Style&stringStyles != 0:
		return m, true
	case from.Value == "<<":
		y.errorf(at, ruleYAMLFeature, "a merge key (<<)").
			hint("write the members out, or share a schema under types and refer to it by $ref")
	default:
		kind, known := y.forms.classify(from.Value)
		if known && kind == stringNode {
			return m, true
		}
		f := y.errorf(at, ruleAmbiguousScalar, "key %s is not a string to every YAML parser", quote(from.Value))
		if from.Value == "" {
			f.hint("write a key")
		} else {
			f.hint("quote it: %s", quote(from.Value))
		}
	}
	return m, false
}
