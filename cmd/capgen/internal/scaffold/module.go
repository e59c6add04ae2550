package scaffold

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/mod/module"
)

// maxModule bounds a module path, in bytes: import paths of the generated code
// begin with it, and the manifest bounds those.
const maxModule = 200

// CheckModule tells why path cannot be the module path of a project; nil when
// it can.
func CheckModule(modulePath string) error {
	if len(modulePath) > maxModule {
		return fmt.Errorf("a module path of %d bytes is too long, at most %d", len(modulePath), maxModule)
	}
	if err := module.CheckPath(modulePath); err != nil {
		return fmt.Errorf("%w; give one such as example.com/notes", err)
	}
	if modulePath == Capgen || strings.HasPrefix(modulePath, Capgen+"/") {
		return fmt.Errorf("module path %q is capgen's own; give one such as example.com/notes", modulePath)
	}
	for element := range strings.SplitSeq(modulePath, "/") {
		if element == "vendor" || element == "testdata" {
			return fmt.Errorf("module path %q has an element %s, which the go command treats apart; leave it out", modulePath, element)
		}
	}
	return nil
}

// maxName is what the manifest allows for the name of a server.
const maxName = 64

// Name is what the program and its server are called: the last element of the
// module path that is no major version.
func Name(modulePath string) string {
	prefix, _, _ := module.SplitPathVersion(modulePath)
	name := strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == '-' || isAlphanumeric(r) {
			return r
		}
		return '-'
	}, path.Base(prefix))
	name = strings.TrimLeftFunc(name, func(r rune) bool { return !isAlphanumeric(r) })
	if name == "" {
		return "server"
	}
	return name[:min(len(name), maxName)]
}

func isAlphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}
