package mcpimport

import (
	"slices"
	"strings"
)

// proposal is what an importer may say of a tool's effect: a guess for a
// person to confirm, and why.
type proposal struct{ effect, because string }

// propose guesses an effect. The name's words are the only evidence that may
// speak for less than destroy, and only where nothing speaks against it: a
// name that begins or ends in a word for looking, and holds none for changing.
// The server's hints can make a proposal more dangerous, never less.
func propose(t *tool) proposal {
	name := words(t.name)
	p := proposal{"destroy", "nothing says that it is harmless"}
	danger := slices.IndexFunc(name, func(w string) bool { return slices.Contains(changing(), w) })
	switch {
	case danger >= 0:
		return proposal{"destroy", "its name says " + name[danger]}
	case slices.ContainsFunc(name, func(w string) bool { return slices.Contains(adding(), w) }):
		p = proposal{"write", "its name says that it adds"}
	default:
		if w, ok := looks(name); ok {
			p = proposal{"read", "its name says " + w}
		}
	}
	if destructive, _ := t.claim("destructiveHint"); destructive && p.effect != "destroy" {
		return proposal{"destroy", "the server says that it is destructive"}
	}
	if _, changes := t.claim("readOnlyHint"); changes && p.effect == "read" {
		return proposal{"destroy", "the server says that it is not read-only"}
	}
	return p
}

// looks tells whether a name begins or ends in a word for looking; `all`
// behind it is no word of its own.
func looks(name []string) (string, bool) {
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

func adding() []string { return []string{"add", "create", "new", "append", "insert", "upload", "copy"} }

// changing are words that speak of more than adding.
func changing() []string {
	return []string{
		"apply", "approve", "archive", "assign", "call", "cancel", "change", "clear", "close", "configure", "delete", "deploy",
		"destroy", "disable", "dismiss", "drop", "edit", "enable", "eval", "evict", "exec", "execute", "force", "fork", "import",
		"install", "interact", "invoke", "kill", "lock", "manage", "mark", "merge", "modify", "move", "overwrite", "patch", "post",
		"publish", "purge", "push", "put", "query", "release", "remove", "rename", "replace", "reset", "resolve", "restart",
		"restore", "revoke", "rm", "rollback", "run", "save", "scale", "send", "set", "start", "stop", "submit", "sync", "terminate",
		"transfer", "trigger", "truncate", "uninstall", "unlock", "update", "upgrade", "upsert", "wipe", "write",
	}
}
