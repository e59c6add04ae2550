package codegen

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
	"unicode"

	"github.com/capgen/capgen/schema"
)

// initialism tells whether a word is written in capitals in Go names.
func initialism(upper string) bool {
	switch upper {
	case "ID", "URL", "API", "HTTP", "JSON", "URI", "UUID", "HTML", "SQL":
		return true
	}
	return false
}

// goName is the exported Go name of a manifest name: read_many is ReadMany,
// userId is UserID. Two names may share one; scope.claim finds that.
func goName(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		if word[0] >= '0' && word[0] <= '9' && endsInDigit(b.String()) {
			b.WriteByte('_') // a_1_2 and a_12 stay apart
		}
		b.WriteString(capitalized(word))
	}
	if s := b.String(); s != "" && s[0] >= 'A' && s[0] <= 'Z' {
		return s
	}
	return "X" + b.String() // _1, _
}

// words splits a name of ASCII letters, digits and separators at separators
// and where a word in mixed case begins.
func words(name string) []string {
	var out []string
	start := -1
	for i := 0; i <= len(name); i++ {
		if i == len(name) || !isAlnum(name[i]) {
			if start >= 0 {
				out = append(out, name[start:i])
			}
			start = -1
			continue
		}
		if start >= 0 && beginsWord(name, i) {
			out = append(out, name[start:i])
			start = i
		}
		if start < 0 {
			start = i
		}
	}
	return out
}

// beginsWord tells whether the upper case letter at i begins a word: the B of
// aB, and the S of HTTPServer.
func beginsWord(name string, i int) bool {
	if !isUpper(name[i]) {
		return false
	}
	if !isUpper(name[i-1]) {
		return true
	}
	return i+1 < len(name) && isAlnum(name[i+1]) && !isUpper(name[i+1]) && !isDigit(name[i+1])
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isUpper(c) || isDigit(c) || c >= 'a' && c <= 'z' }

func endsInDigit(s string) bool { return s != "" && isDigit(s[len(s)-1]) }

func capitalized(word string) string {
	if up := strings.ToUpper(word); initialism(up) {
		return up
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// unexported is goName with its first word in lower case: URLList is urlList.
func unexported(goName string) string {
	ws := words(goName)
	return strings.ToLower(ws[0]) + goName[len(ws[0]):]
}

// snake is the file name of a Go name: URLList is url_list.
func snake(goName string) string {
	return strings.ToLower(strings.Join(words(goName), "_"))
}

// enumName is the part of a constant's name that stands for an enum value.
// Usual separators vanish; any other rune that Go names cannot hold is spelled
// by its number, so that "+" and "-1" have names too.
func enumName(value string) string {
	var b strings.Builder
	for _, r := range value {
		switch {
		case r < 0x80 && isAlnum(byte(r)):
			b.WriteRune(r)
		case strings.ContainsRune(" -_./:", r):
			b.WriteByte('_')
		default:
			fmt.Fprintf(&b, "_U%04X_", r)
		}
	}
	if len(words(b.String())) == 0 {
		if value == "" {
			return "Empty"
		}
		b.Reset()
		for _, r := range value {
			fmt.Fprintf(&b, "_U%04X", r)
		}
	}
	name := ""
	for _, w := range words(b.String()) {
		if isDigit(w[0]) && endsInDigit(name) {
			name += "_"
		}
		name += capitalized(w)
	}
	return name
}

// packageName is the package clause of a namespace. A word that means
// something to Go gets an underscore; the directory keeps the name. Nothing
// can be imported as init.
func packageName(segment string) string {
	if reservedWord(segment) || segment == "main" || segment == "init" {
		return segment + "_"
	}
	return segment
}

func reservedWord(s string) bool {
	return token.IsKeyword(s) || types.Universe.Lookup(s) != nil
}

// scope is a set of Go names in one package or one struct.
type scope struct {
	where string
	names map[string]claim
	diags *[]schema.Diagnostic
}

type claim struct {
	what string
	pos  schema.Position
}

func newScope(where string, diags *[]schema.Diagnostic) *scope {
	return &scope{where: where, names: map[string]claim{}, diags: diags}
}

// claim takes a name for what. A name that is taken already is a diagnostic
// at the later of the two positions.
func (s *scope) claim(name, what string, pos schema.Position) {
	first, taken := s.names[name]
	if !taken {
		s.names[name] = claim{what, pos}
		return
	}
	second := claim{what, pos}
	if before(second.pos, first.pos) {
		first, second = second, first
	}
	d := schema.Diagnostic{
		Position: second.pos,
		Severity: schema.SeverityError,
		Rule:     "go-name-collision",
		Message:  fmt.Sprintf("%s and %s would both be %s in %s", first.what, second.what, name, s.where),
		Hint:     "rename one of them: generated names are never made unique by a suffix",
	}
	if first.pos != (schema.Position{}) {
		related := first.pos
		d.Related = &related
	}
	*s.diags = append(*s.diags, d)
}

// reserve takes a name that generated code declares itself.
func (s *scope) reserve(what string, names ...string) {
	for _, name := range names {
		s.names[name] = claim{what: what}
	}
}

// before orders positions; the unknown position is first.
func before(a, b schema.Position) bool {
	if a.File != b.File {
		return a.File < b.File
	}
	if a.Line != b.Line {
		return a.Line < b.Line
	}
	return a.Column < b.Column
}

// namespaceAlias is the name under which the catalog imports a namespace. It
// is made of the whole dotted name, so that it stays when others come and go:
// a.records is aRecords. taken holds what the catalog uses otherwise.
func namespaceAlias(namespace string, taken map[string]bool) string {
	segments := strings.Split(namespace, ".")
	alias := segments[0]
	for _, s := range segments[1:] {
		alias += string(unicode.ToUpper(rune(s[0]))) + s[1:]
	}
	for taken[alias] || alias == "init" || reservedWord(alias) {
		alias += "NS"
	}
	taken[alias] = true
	return alias
}
