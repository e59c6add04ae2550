package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

// plainValue turns a tree into what encoding/json and the validator take.
func plainValue(n *node) any {
	switch n.kind {
	case nullNode:
		return nil
	case boolNode:
		return n.text == "true"
	case numberNode:
		return json.Number(n.text)
	case stringNode:
		return n.text
	case listNode:
		list := make([]any, 0, len(n.items))
		for _, item := range n.items {
			list = append(list, plainValue(item))
		}
		return list
	}
	m := make(map[string]any, len(n.members))
	for _, x := range n.members {
		m[x.key] = plainValue(x.value)
	}
	return m
}

// jsonText writes a tree as JSON, members in file order.
func jsonText(t testing.TB, n *node) string {
	t.Helper()
	var b strings.Builder
	writeJSON(t, &b, n)
	return b.String()
}

func writeJSON(t testing.TB, b *strings.Builder, n *node) {
	quoted := func(s string) {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	switch n.kind {
	case nullNode:
		b.WriteString("null")
	case boolNode, numberNode:
		b.WriteString(n.text)
	case stringNode:
		quoted(n.text)
	case listNode:
		b.WriteString("[")
		for i, item := range n.items {
			if i > 0 {
				b.WriteString(", ")
			}
			writeJSON(t, b, item)
		}
		b.WriteString("]")
	case mappingNode:
		b.WriteString("{\n")
		for i, m := range n.members {
			if i > 0 {
				b.WriteString(",\n")
			}
			quoted(m.key)
			b.WriteString(": ")
			writeJSON(t, b, m.value)
		}
		b.WriteString("}")
	default:
		t.Fatalf("a node of kind %d", n.kind)
	}
}

// readTree reads text as a file of that name; nil if it has findings.
func readTree(name, text string) *node {
	r := newReport()
	n := parse(r, defaultLimits(), name, []byte(text))
	if r.failed {
		return nil
	}
	return n
}
