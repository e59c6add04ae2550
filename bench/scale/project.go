package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// write makes the module: a manifest in parts, and a server whose handlers are
// never called.
func (p *project) write(checkout string) error {
	sums, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	if err != nil {
		return err
	}
	// The versions are those of the clone.
	_, requires, _ := strings.Cut(string(mod), "\n")
	requires, _, _ = strings.Cut(requires, "\ntool ")
	requires = strings.Replace(requires, "go ", "\ngo ", 1)
	namespaces := (p.n + perNamespace - 1) / perNamespace
	parts := (namespaces + perPart - 1) / perPart
	files := map[string]string{
		"go.mod": fmt.Sprintf("module %s\n%s\nrequire github.com/capgen/capgen v0.0.0\n\nreplace github.com/capgen/capgen => %s\n", p.module, requires, checkout),
		"go.sum": string(sums),
		"warm/main.go": "package main\n\nimport (\n\t_ \"github.com/capgen/capgen/authz\"\n\t_ \"github.com/capgen/capgen/runtime\"\n\t_ \"github.com/capgen/capgen/runtime/canon\"\n)\n\n" +
			"func main() {}\n",
		"main.go": p.server(namespaces),
	}
	var manifest strings.Builder
	fmt.Fprintf(&manifest, "capgen: 1\ngo: {package: %s/generated}\nserver: {name: many, version: 1.0.0}\n", p.module)
	manifest.WriteString("types:\n  Owner: {type: object, required: [name], properties: {name: {type: string, maxLength: 64}, email: {type: string, maxLength: 320}}}\ninclude:\n")
	for i := range parts {
		fmt.Fprintf(&manifest, "  - part%d.yaml\n", i)
		files[fmt.Sprintf("part%d.yaml", i)] = capabilities(i*perPart*perNamespace, min(p.n, (i+1)*perPart*perNamespace))
	}
	files["capabilities.yaml"] = manifest.String()
	for name, text := range files {
		name = filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// capabilities are those from one number to another, of ordinary size.
func capabilities(from, to int) string {
	var b strings.Builder
	b.WriteString("capabilities:\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, `  - name: space%d.get_record_%d
    summary: Look up record %d by its key.
    description: Returns the record and who owns it. A missing one is an error.
    search: [fetch an entry, find a stored item]
    effect: read
    scopes: [records:read]
    input:
      type: object
      required: [key]
      properties:
        key: {type: string, minLength: 1, maxLength: 128, description: What the record is stored under.}
        limit: {type: integer, minimum: 1, maximum: 100, default: 20, description: How many to return at most.}
        order: {type: string, enum: [newest, oldest], default: newest}
        tags: {type: array, maxItems: 10, items: {type: string, maxLength: 32}}
    output:
      type: object
      required: [key, count, owners]
      properties:
        key: {type: string, maxLength: 128}
        count: {type: integer, minimum: 0}
        score: {type: number}
        owners: {type: array, maxItems: 20, items: {$ref: "#/types/Owner"}}
`, i/perNamespace, i, i)
	}
	return b.String()
}

// server is a program that builds a server and says what that took.
func (p *project) server(namespaces int) string {
	var b strings.Builder
	b.WriteString(`package main

import (
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
`)
	fmt.Fprintf(&b, "\t%q\n", p.module+"/generated/catalog")
	for i := range namespaces {
		fmt.Fprintf(&b, "\t%q\n", fmt.Sprintf("%s/generated/space%d", p.module, i))
	}
	b.WriteString(")\n\n")
	for i := range namespaces {
		fmt.Fprintf(&b, "type handlers%d struct{ space%d.Handlers }\n", i, i)
	}
	b.WriteString(`
func main() {
	runtime.ServeWorkerAndExit()
	begin := time.Now()
	b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll(), IdleWorkers: runtime.NoIdleWorkers})
	catalog.Register(b, catalog.Handlers{
`)
	for i := range namespaces {
		fmt.Fprintf(&b, "\t\tSpace%d: handlers%d{},\n", i, i)
	}
	b.WriteString(`	})
	registered := time.Since(begin)
	server, err := b.Build(context.Background())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	built := time.Since(begin)
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	fmt.Printf("%d capabilities: registered in %d ms, built in %d ms, %d KB of heap\n", server.Capabilities(), registered.Milliseconds(), built.Milliseconds(), m.HeapAlloc>>10)
	if err := server.Close(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
`)
	return b.String()
}
