package mcpimport

import "strconv"

// problem is a reason why something cannot be imported, and its place: a JSON
// pointer (RFC 6901) into the document, and a byte offset.
type problem struct {
	pointer string
	offset  int
	reason  string
}

// tool is one entry of tools/list (MCP 2025-06-18, Tool).
type tool struct {
	name, title, description string
	pointer                  string
	at                       *value // the entry
	nameAt                   *value
	input                    *value
	hasOutput                bool
	typePrefix               string   // of the types its schemas become
	claims                   []member // hints, in MCP's order
}

// toolsOf finds the list: a bare result, a JSON-RPC response, or the list
// itself.
func toolsOf(root *value) (list *value, pointer string, bad *problem) {
	v := root
	if v.kind == objectKind {
		if r := v.get("result"); r.is(objectKind) {
			v, pointer = r, "/result"
		}
		if next := v.get("nextCursor"); next.is(stringKind) && next.text != "" {
			return nil, "", &problem{pointer + "/nextCursor", next.offset, "this is one page of several: join the tools of all pages into one list first"}
		}
		if t := v.get("tools"); t != nil {
			v, pointer = t, pointer+"/tools"
		}
	}
	if v.kind != listKind {
		return nil, "", &problem{pointer, v.offset, "no list of tools: give a result of tools/list, {\"tools\": […]}, a JSON-RPC response with one, or the list"}
	}
	if len(v.items) > maxTools {
		return nil, "", &problem{pointer, v.offset, "more than 10,000 tools"}
	}
	return v, pointer, nil
}

// readTool takes what an entry needs. Members that say nothing about what may
// be called, such as icons and _meta, are not read.
func readTool(v *value, pointer string) (*tool, *problem) {
	t := &tool{pointer: pointer, at: v}
	if v.kind != objectKind {
		return nil, &problem{pointer, v.offset, "a tool is an object"}
	}
	var bad *problem
	words := func(of *value, at, key string) (string, *value) {
		m := of.get(key)
		if m == nil || m.kind == nullKind {
			return "", nil
		}
		if m.kind != stringKind && bad == nil {
			bad = &problem{at + "/" + key, m.offset, key + " is a string"}
		}
		return m.text, m
	}
	t.name, t.nameAt = words(v, pointer, "name")
	t.title, _ = words(v, pointer, "title")
	t.description, _ = words(v, pointer, "description")
	if a := v.get("annotations"); a != nil && a.kind != nullKind {
		if a.kind != objectKind {
			return nil, &problem{pointer + "/annotations", a.offset, "annotations are an object"}
		}
		title, _ := words(a, pointer+"/annotations", "title")
		if t.title == "" {
			t.title = title
		}
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			m := a.get(hint)
			if m == nil || m.kind == nullKind {
				continue
			}
			if m.kind != boolKind {
				return nil, &problem{pointer + "/annotations/" + hint, m.offset, hint + " is true or false"}
			}
			t.claims = append(t.claims, member{hint, m})
		}
	}
	switch t.input = v.get("inputSchema"); {
	case bad != nil:
		return nil, bad
	case t.nameAt == nil || t.name == "":
		return nil, &problem{pointer, v.offset, "a tool has a name"}
	case t.input == nil:
		return nil, &problem{pointer, v.offset, "a tool has an inputSchema"}
	case t.input.kind != objectKind:
		return nil, &problem{pointer + "/inputSchema", t.input.offset, "inputSchema is an object"}
	}
	out := v.get("outputSchema")
	t.hasOutput = out != nil && out.kind != nullKind
	return t, nil
}

func (t *tool) claim(name string) (yes, no bool) {
	for _, m := range t.claims {
		if m.key == name {
			return m.value.text == "true", m.value.text == "false"
		}
	}
	return false, false
}

func index(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }
