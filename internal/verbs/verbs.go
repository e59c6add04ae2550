package verbs

import (
	"slices"
	"strings"
)

// Looks tells whether a name begins or ends in a word for looking; `all`
// behind it is no word of its own.
func Looks(name []string) (string, bool) {
	if len(name) > 1 && name[len(name)-1] == "all" {
		name = name[:len(name)-1]
	}
	for _, w := range []string{strings.Join(name[:min(1, len(name))], ""), strings.Join(name[max(0, len(name)-1):], "")} {
		if slices.Contains([]string{"get", "list", "search", "find", "read", "count", "describe", "show", "view"}, w) {
			return w, true
		}
	}
	return "", false
}

// Adds tells whether a word speaks of adding.
func Adds(word string) bool {
	return slices.Contains([]string{"add", "create", "new", "append", "insert", "upload", "copy"}, word)
}

// Changes tells whether a word speaks of more than adding.
func Changes(word string) bool {
	return slices.Contains([]string{
		"apply", "approve", "archive", "assign", "call", "cancel", "change", "clear", "close", "configure", "delete", "deploy",
		"destroy", "disable", "dismiss", "drop", "edit", "enable", "eval", "evict", "exec", "execute", "force", "fork", "import",
		"install", "interact", "invoke", "kill", "lock", "manage", "mark", "merge", "modify", "move", "overwrite", "patch", "post",
		"publish", "purge", "push", "put", "query", "release", "remove", "rename", "replace", "reset", "resolve", "restart",
		"restore", "revoke", "rm", "rollback", "run", "save", "scale", "send", "set", "start", "stop", "submit", "sync", "terminate",
		"transfer", "trigger", "truncate", "uninstall", "unlock", "update", "upgrade", "upsert", "wipe", "write",
	}, word)
}

// Destroys tells whether a word speaks of what cannot be put back.
func Destroys(word string) bool {
	return slices.Contains([]string{
		"clear", "delete", "destroy", "drop", "erase", "evict", "kill", "overwrite", "purge", "remove", "reset", "revoke", "rm",
		"terminate", "truncate", "uninstall", "wipe",
	}, word)
}
