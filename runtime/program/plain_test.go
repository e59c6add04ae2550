package program_test

import (
	"strings"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/canon"
)

// plain runs source on the interpreter as it is; the result is JSON of a string.
func plain(source string) (string, error) {
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	thread := &starlark.Thread{Print: func(*starlark.Thread, string) {}}
	globals, err := starlark.ExecFileOptions(options, thread, "plain", source, starlark.StringDict{"json": json.Module})
	if err != nil {
		return "", err
	}
	v, err := starlark.Call(thread, globals["main"], nil, nil)
	if err != nil {
		return "", err
	}
	return string(canon.AppendString(nil, strings.ToValidUTF8(string(v.(starlark.String)), "?"))), nil
}
