package codegen_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go/ast"
	"go/parser"
	"go/token"
	"strconv"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
)

// suitePackage holds generated code that exists while the suite is tested: the
// go command is shown its files by an overlay, as if they stood there.
const suitePackage = "github.com/capgen/capgen/codegen/testdata/suite/generated"

// question is a value for a child to decode; childAnswer is what came out.
type question struct {
	Type string
	Text []byte
	Wire bool
}

type childAnswer struct {
	Error     *canon.Error
	Canonical []byte
	Problem   string // what is wrong with a value that was accepted
}

// childMain is the program of a child: main_gen.go has decoders beside it.
const childMain = `package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/capgen/capgen/internal/oracle"
	"github.com/capgen/capgen/runtime/canon"
)

type decoder func(*canon.Reader) (canon.Encoder, error)

type pointer[T any] interface {
	*T
	canon.Encoder
	Decode(*canon.Reader) error
}

func decode[T any, P pointer[T]](r *canon.Reader) (canon.Encoder, error) {
	p := P(new(T))
	err := p.Decode(r)
	if err == nil {
		err = r.End()
	}
	return p, err
}

type answer struct {
	Error     *canon.Error
	Canonical []byte
	Problem   string
}

func main() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var q struct {
			Type string
			Text []byte
			Wire bool
		}
		if in.Decode(&q) != nil {
			return
		}
		if err := out.Encode(reply(decoders[q.Type], q.Text, q.Wire)); err != nil {
			os.Exit(1)
		}
	}
}

func reader(text []byte, wire bool) *canon.Reader {
	if wire {
		return canon.NewWireReader(text, 32)
	}
	return canon.NewJSONReader(text, 32)
}

func reply(decode decoder, text []byte, wire bool) (a answer) {
	v, err := decode(reader(text, wire))
	if errors.As(err, &a.Error) {
		return a
	}
	a.Canonical = canon.AppendCanonical(nil, v)
	again, err := decode(reader(a.Canonical, false))
	if err != nil || !oracle.Same(v, again) {
		a.Problem = fmt.Sprintf("canonical %s reads as another value: %v", a.Canonical, err)
		return a
	}
	if b := canon.AppendCanonical(nil, again); !bytes.Equal(b, a.Canonical) {
		a.Problem = fmt.Sprintf("canonical twice is %s, then %s", a.Canonical, b)
		return a
	}
	b, err := canon.AppendWire(nil, v)
	if err == nil {
		again, err = decode(reader(b, true))
	}
	if err != nil || !oracle.Same(v, again) {
		a.Problem = fmt.Sprintf("%s is another value on the wire: %v", a.Canonical, err)
	}
	return a
}
`

// child is a process that holds the decoders of generated code.
type child struct {
	in  *json.Encoder
	out *json.Decoder
}

func (c *child) ask(t *testing.T, q question) (a childAnswer) {
	t.Helper()
	if err := c.in.Encode(q); err != nil {
		t.Fatal(err)
	}
	if err := c.out.Decode(&a); err != nil {
		t.Fatalf("the child is gone: %v", err)
	}
	return a
}

// startChild compiles generated files and starts a process of their decoders.
func startChild(t *testing.T, files map[string][]byte, cases []*suiteCase) *child {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "package main\n\nimport %q\n\nvar decoders = map[string]decoder{\n", suitePackage+"/suite")
	for _, c := range cases {
		fmt.Fprintf(&b, "\t%q: decode[suite.%sInput],\n", c.name, goName(c.name))
	}
	b.WriteString("}\n")
	dir := t.TempDir()
	root, err := filepath.Abs("testdata/suite")
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]string{}
	show := func(name string, content []byte) {
		real := filepath.Join(dir, "src", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(real), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(real, content, 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(root, filepath.FromSlash(name))] = real
	}
	for name, content := range files {
		if strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, "fake/") {
			show("generated/"+name, content)
		}
	}
	show("child/main.go", []byte(childMain))
	show("child/decoders.go", []byte(b.String()))
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	list, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "child.exe")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", list, "-o", binary, "./testdata/suite/child").CombinedOutput(); err != nil {
		t.Fatalf("%v: %.2000s", err, out)
	}
	command := exec.Command(binary)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &child{json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))}
}

// goName is how generated code calls a type of the suite's manifest.
func goName(name string) string { return strings.ToUpper(name[:1]) + strings.ToLower(name[1:]) }

// bindingsOf are the Binding tables in generated files, by name.
func bindingsOf(t testing.TB, files map[string][]byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, content := range files {
		if filepath.Ext(name) != ".go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			member, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, _ := member.Key.(*ast.Ident)
			text, ok := member.Value.(*ast.BasicLit)
			if key == nil || key.Name != "Binding" || !ok {
				return true
			}
			b, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			c, err := binding.ParseCapability(b)
			if err != nil {
				t.Fatal(err)
			}
			out[c.Name] = b
			return true
		})
	}
	return out
}
