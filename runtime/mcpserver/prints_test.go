package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/mcpserver"
)

// Prints stand beside a result or an error, for a host that wants them.
func TestReturnPrints(t *testing.T) {
	failed := shown{Class: fault.ProgramError, Message: "no"}
	for _, c := range []struct {
		x    runtime.Execution
		err  error
		want string
	}{
		{runtime.Execution{Result: []byte("1"), Prints: runtime.Prints{Text: "a<b\n"}}, nil, `{"result":1,"prints":{"text":"a<b\n"}}`},
		{runtime.Execution{Result: []byte("1"), Prints: runtime.Prints{Text: "a", Cut: true}}, nil, `{"result":1,"prints":{"text":"a","cut":true}}`},
		{runtime.Execution{Result: []byte("1")}, nil, `{"result":1}`},
		{runtime.Execution{Result: []byte("null"), Prints: runtime.Prints{Text: "a"}}, nil,
			`{"result":null,"prints":{"text":"a"},"receipt":{"notes":["the program returned None: return from main what is to be read"]}}`},
		{runtime.Execution{Prints: runtime.Prints{Text: "a"}}, failed, `{"error":{"class":"program_error","message":"no"},"prints":{"text":"a"}}`},
	} {
		f := &fake{execute: func(context.Context, authz.Subject, string) (runtime.Execution, error) { return c.x, c.err }}
		content, _ := call(t, connect(t, mcpserver.Options{Runtime: f, ReturnPrints: true}), "execute", `{"source":"x"}`)
		if content != c.want || f.options != 1 {
			t.Errorf("with %d options: %s, want %s", f.options, content, c.want)
		}
		content, _ = call(t, connect(t, mcpserver.Options{Runtime: f}), "execute", `{"source":"x"}`)
		if strings.Contains(content, `"prints"`) || f.options != 0 {
			t.Errorf("without, an execution has %d options, and the answer is %s", f.options, content)
		}
	}
}

// The list of tools says of prints what is so, and is otherwise the same.
func TestReturnPrintsIsDescribed(t *testing.T) {
	list := func(prints bool) string {
		s := connect(t, mcpserver.Options{Runtime: &fake{}, ReturnPrints: prints})
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(tools.Tools)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	without, with := list(false), list(true)
	undone := strings.Replace(strings.Replace(with, "prints come beside it", "prints are discarded", 1), `"prints":{"type":"object"},`, "", 1)
	if same := sameJSON(t, []byte(without), []byte(undone)); !same || with == without {
		t.Errorf("without:\n%s\nwith:\n%s", without, with)
	}
}
