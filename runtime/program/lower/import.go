package lower

import (
	"strings"

	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/python"
)

// bindsImport is the variable that an imported name becomes.
func bindsImport(s *python.Import, a *python.Alias) string {
	if a.As != "" {
		return a.As
	}
	root, _, _ := strings.Cut(a.Name, ".")
	return root
}

// imports binds modules, or what they hold, to variables.
func (l *lowerer) imports(out []syntax.Stmt, s *python.Import) []syntax.Stmt {
	for _, a := range s.Names {
		module := a.Name
		if s.IsFrom {
			module = s.From
		}
		if module == "__future__" {
			continue
		}
		if !l.importable(a.Pos, s.Pos, module) {
			return out
		}
		p := a.Pos
		value := l.call(p, Import, l.text(p, module))
		if s.IsFrom {
			value = l.call(p, Attr, value, l.text(p, a.Name))
		}
		out = append(out, l.assign(p, l.variable(p, bindsImport(s, &a)), value))
	}
	return out
}

func (l *lowerer) importable(p, statement python.Pos, module string) bool {
	root, _, _ := strings.Cut(module, ".")
	switch {
	case l.options.Module != nil && l.options.Module(module):
		return true
	case l.options.Namespace != nil && l.options.Namespace(root):
		l.fail(statement, "remove the import: "+root+" is there already", "%s is a namespace of capabilities, not a module", root)
	default:
		hint, ok := Instead(root)
		if !ok {
			hint = "remove the import and use what is there: the builtins, json, math and the capabilities"
		}
		l.fail(p, hint, "the module %s is not available", module)
	}
	return false
}

// Instead says what to use in place of a name that programs often expect: a
// module, or a builtin that there is not.
func Instead(name string) (hint string, ok bool) {
	switch name {
	case "requests", "urllib", "httpx", "aiohttp", "http", "socket", "ssl":
		hint = "a program has no network: call a capability"
	case "os", "sys", "pathlib", "io", "shutil", "glob", "tempfile", "subprocess", "open":
		hint = "a program has no files and no processes: call a capability"
	case "numpy", "pandas", "scipy", "np", "pd":
		hint = "use lists, dicts, sum, sorted and math"
	case "time":
		hint = "a program does not wait, and has no clock"
	case "random", "secrets", "uuid":
		hint = "a program has no randomness: call a capability"
	case "re":
		hint = "use str methods: find, split, partition, startswith, replace"
	case "collections":
		hint = "use a dict with setdefault or get, and a list"
	case "dataclasses", "enum", "abc":
		hint = "use dicts"
	case "logging", "pprint", "traceback", "warnings":
		hint = "use print, and return what matters"
	case "input":
		hint = "a program has no input: give it data, which stands beside source"
	case "eval", "exec", "compile", "__import__":
		hint = "write the code out"
	case "globals", "locals", "vars", "setattr", "delattr", "id", "memoryview", "bytearray", "complex":
		hint = "use a dict, a list or bytes"
	case "exit", "quit":
		hint = "return from main, or raise an exception"
	case "super", "property", "staticmethod", "classmethod":
		hint = "use functions and dicts"
	case "breakpoint", "help":
		hint = "return what matters"
	case "null":
		hint = "write None"
	case "true", "false":
		hint = "write True and False"
	case "undefined":
		hint = "write None"
	}
	return hint, hint != ""
}
