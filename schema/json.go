package schema

import (
	"bytes"
	"errors"
	"math"

	"github.com/capgen/capgen/runtime/canon"
)

// jsonReader builds the tree from a strict JSON text.
type jsonReader struct {
	treeBuilder
	src *source
	in  *canon.Reader
}

// readJSON reads one JSON text. nil means that there is no tree, with the
// reason reported.
func readJSON(r *report, l limits, src *source) *node {
	j := &jsonReader{
		treeBuilder: treeBuilder{report: r, limits: l},
		src:         src,
		// One more than the limit: enter reports depth in the same words
		// as for YAML, the reader is the net below.
		in: canon.NewJSONReader(src.text, l.fileDepth+1),
	}
	n := j.value(0)
	if n == nil {
		j.syntaxError(j.in.Err())
		return nil
	}
	if err := j.in.End(); err != nil {
		j.syntaxError(err)
		return nil
	}
	return n
}

// syntaxError reports what stopped the reader; nil means that a limit did,
// which is reported already.
func (j *jsonReader) syntaxError(err error) {
	if err == nil {
		return
	}
	at, message := j.src.at(0), err.Error()
	var located *canon.Error
	if errors.As(err, &located) {
		at, message = j.src.at(located.Offset), located.Message
	}
	f := j.errorf(at, ruleJSONSyntax, "%s", plain(message, maxPlain))
	if located != nil {
		f.Hint = j.syntaxHint(located.Offset)
	}
}

// syntaxHint says what a person most likely did where the reader stopped.
// Empty when nothing is likely.
func (j *jsonReader) syntaxHint(offset int) string {
	text := j.src.text
	before := bytes.TrimRight(text[:min(offset, len(text))], " \t\r\n")
	if len(before) == 0 && len(bytes.TrimSpace(text)) == 0 {
		return "the file is empty: a manifest starts with {\"capgen\": 1"
	}
	if offset >= len(text) {
		return "the file ends before its last bracket"
	}
	switch c := text[offset]; {
	case len(before) == 0 && c != '{' && c != '[' && c != '/':
		return "a file whose name ends in .json is read as JSON: rename a YAML manifest"
	case (c == '}' || c == ']') && before[len(before)-1] == ',':
		return "remove the comma before it"
	case c == '/' || c == '#':
		return "JSON has no comments: remove it, or write the manifest in YAML"
	case c == '\'':
		return "JSON strings stand in double quotes"
	case c == '"':
		return "put a comma between the entries"
	}
	return ""
}

// value returns nil when reading has to stop.
func (j *jsonReader) value(depth int) *node {
	n := &node{pos: j.src.at(j.in.Offset())}
	if !j.enter(n.pos, depth) {
		return nil
	}
	switch j.in.Peek() {
	case canon.KindNull:
		n.kind = nullNode
		j.in.Null()
	case canon.KindBool:
		n.kind, n.text = boolNode, "false"
		if j.in.Bool() {
			n.text = "true"
		}
	case canon.KindNumber:
		n.kind, n.text = numberNode, j.in.RawNumber()
	case canon.KindString:
		n.kind, n.text = stringNode, j.in.String(0, math.MaxInt)
	case canon.KindArray:
		n.kind = listNode
		j.in.BeginArray(0, math.MaxInt)
		for j.in.NextElement() {
			item := j.value(depth + 1)
			if item == nil {
				return nil
			}
			n.items = append(n.items, item)
		}
	case canon.KindObject:
		n.kind = mappingNode
		var seen keySet
		j.in.BeginObject()
		for at := j.keyPosition(); j.in.NextMember(); at = j.keyPosition() {
			m := member{key: string(j.in.Key()), pos: at}
			if m.value = j.value(depth + 1); m.value == nil {
				return nil
			}
			j.addMember(n, &seen, m)
		}
	default:
		// The reader has the words for what stands here.
		j.in.Skip()
	}
	if j.in.Err() != nil {
		return nil
	}
	return n
}

// keyPosition is where the next member's key starts: the reader stands before
// it, or before the comma that precedes it.
func (j *jsonReader) keyPosition() Position {
	i := j.in.Offset()
	if i < len(j.src.text) && j.src.text[i] == ',' {
		for i++; i < len(j.src.text) && (j.src.text[i] == ' ' || j.src.text[i] == '\t' || j.src.text[i] == '\n' || j.src.text[i] == '\r'); i++ {
		}
	}
	return j.src.at(i)
}
