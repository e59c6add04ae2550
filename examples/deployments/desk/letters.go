package desk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/capgen/capgen/examples/deployments/generated/letters"
	"github.com/capgen/capgen/examples/deployments/generated/types"
)

// Desk holds the letters. It is safe for concurrent use.
type Desk struct {
	mu      sync.Mutex
	letters map[types.Title]*template.Template
}

// New is a desk with two letters on it.
func New() *Desk {
	parse := func(text string) *template.Template { return template.Must(template.New("").Parse(text)) }
	return &Desk{letters: map[types.Title]*template.Template{
		"welcome":  parse("Welcome, {{.Name}}!"),
		"reminder": parse("Dear {{.Name}}, you forgot something."),
	}}
}

// List is letters.list.
func (d *Desk) List(context.Context, letters.ListInput) (letters.ListOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.letters)), nil
}

// Render is letters.render.
func (d *Desk) Render(_ context.Context, in letters.RenderInput) (letters.RenderOutput, error) {
	d.mu.Lock()
	letter := d.letters[in.Title]
	d.mu.Unlock()
	if letter == nil {
		return "", letters.ErrRenderNotFound
	}
	var b strings.Builder
	if err := letter.Execute(&b, in); err != nil {
		return "", fmt.Errorf("desk: letter %s: %w", in.Title, err)
	}
	return letters.RenderOutput(b.String()), nil
}
