package main

import (
	"context"
	"errors"
	"path"
	"strings"

	generated "github.com/capgen/capgen/generated/drafts"
	"github.com/capgen/capgen/generated/types"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/draft"
)

// drafts implements the namespace drafts. It only translates: owners, bounds
// and what lands are package draft's and govern's.
type drafts struct {
	service *govern.Service
	drafts  *draft.Drafts
	// single tells that there is one root only; paths do not begin with its name.
	single bool
}

func newDrafts(s *govern.Service) *drafts {
	names := s.Roots()
	return &drafts{service: s, drafts: draft.New(s), single: len(names) == 1 && names[0] == onlyRoot}
}

// place is the root and the path below it that a program names.
func (d *drafts) place(name string) (root, below string, err error) {
	clean := path.Clean(name)
	if d.single {
		root, below = onlyRoot, clean
	} else {
		root, below, _ = strings.Cut(clean, "/")
	}
	if path.IsAbs(name) || below == "" || below == "." {
		return "", "", govern.Refuse(govern.InvalidRequest, "the path is not that of a directory below the top", "name the directory from the top, as in docs/notes")
	}
	return root, below, nil
}

func (d *drafts) Create(ctx context.Context, in generated.CreateInput) (types.Draft, error) {
	var files []govern.File
	if in.Path.Present {
		var err error
		if files, err = d.current(ctx, in.Path.Value, in.Files); err != nil {
			return types.Draft{}, d.refused(ctx, err)
		}
	}
	for _, f := range in.Files {
		file := govern.File{Path: f.Path, Content: []byte(f.Text)}
		if f.Executable {
			file.Mode = 0o755
		}
		files = append(files, file)
	}
	made, err := d.drafts.Create(ctx, files)
	return draftOf(made), err
}

// current are the files of a directory as it is, without those in place of
// which a draft has others.
func (d *drafts) current(ctx context.Context, name string, others []types.DraftText) ([]govern.File, error) {
	root, below, err := d.place(name)
	if err != nil {
		return nil, err
	}
	tree, read, done, err := d.service.Directory(root, below)
	if err != nil {
		return nil, err
	}
	defer done()
	if !tree.Present {
		return nil, govern.Refuse(govern.NotFound, "no directory is there", "leave path out for one that is new")
	}
	replaced := map[string]bool{}
	for _, f := range others {
		replaced[f.Path] = true
	}
	var files []govern.File
	for _, n := range tree.Nodes {
		if n.Dir || replaced[n.Path] {
			continue
		}
		if err := ctx.Err(); err != nil { // 10,000 files take their time
			return nil, err
		}
		content, err := read(n.Path, draft.MaxFileBytes)
		if err != nil {
			return nil, err
		}
		files = append(files, govern.File{Path: n.Path, Mode: n.Mode, Content: content})
	}
	return files, nil
}

func (d *drafts) Update(ctx context.Context, in generated.UpdateInput) (types.Draft, error) {
	e := draft.Edit{Path: in.Path, Was: in.Was, Content: []byte(in.Text.Value), Remove: !in.Text.Present}
	if in.Executable {
		e.Mode = 0o755
	}
	made, err := d.drafts.Update(ctx, in.Draft, in.Revision, e)
	return draftOf(made), err
}

func (d *drafts) Read(ctx context.Context, in generated.ReadInput) (generated.ReadOutput, error) {
	text, err := d.drafts.Read(ctx, in.Draft, in.Path)
	return generated.ReadOutput{Text: string(text)}, err
}

func (d *drafts) Get(ctx context.Context, in generated.GetInput) (types.Draft, error) {
	made, err := d.drafts.Get(ctx, in.Draft)
	return draftOf(made), err
}

func (d *drafts) List(ctx context.Context, in generated.ListInput) (generated.ListOutput, error) {
	list, err := d.drafts.List(ctx, in.After, int(in.Limit))
	return generated.ListOutput{Drafts: each(list, draftOf)}, err
}

func (d *drafts) Diff(ctx context.Context, in generated.DiffInput) (generated.DiffOutput, error) {
	root, below, err := d.place(in.Path)
	if err != nil {
		return generated.DiffOutput{}, err
	}
	diff, err := d.drafts.Diff(ctx, in.Draft, root, below)
	return generated.DiffOutput{Text: diff.Text, Before: diff.Before, Actions: each(diff.Actions, func(a govern.Action) types.DraftAction {
		return types.DraftAction{Action: a.Action, Path: a.Path}
	})}, err
}

func (d *drafts) Validate(ctx context.Context, in generated.ValidateInput) (generated.ValidateOutput, error) {
	v, err := d.drafts.Validate(ctx, in.Draft, in.Revision, check)
	return generated.ValidateOutput{Passed: v.Passed, Token: v.Token, Diagnostics: each(v.Diagnostics, func(f draft.Diagnostic) types.Diagnostic {
		return types.Diagnostic{Code: f.Code, Severity: types.DiagnosticSeverity(f.Severity), File: f.File, Line: int64(f.Line), Message: f.Message}
	})}, err
}

func (d *drafts) Delete(ctx context.Context, in generated.DeleteInput) (generated.DeleteOutput, error) {
	return generated.DeleteOutput{}, d.drafts.Delete(ctx, in.Draft, in.Revision)
}

// Publish plans that a draft takes a directory's place.
func (d *drafts) Publish(ctx context.Context, in generated.PublishInput) (govern.Change, error) {
	root, below, err := d.place(in.Path)
	if err != nil {
		return govern.Change{}, err
	}
	c, err := d.drafts.Change(ctx, in.Validation, root, below, in.Summary)
	c.Before = in.Before
	return c, err
}

// Evaluate plans that a draft runs in Starlark.
func (d *drafts) Evaluate(ctx context.Context, in generated.EvaluateInput) (govern.Run, error) {
	r, err := d.drafts.Run(ctx, in.Validation, in.Arguments.Value.AppendCanonical(nil), in.Summary)
	if err != nil {
		return r, err
	}
	return r, oneProgram(r.Files)
}

// oneProgram refuses code in Starlark that nothing could load.
func oneProgram(files []govern.File) error {
	const entry = "main.star"
	for _, f := range files {
		if path.Ext(f.Path) == ".star" && f.Path != entry {
			return govern.Refuse(govern.InvalidRequest, entry+" is the only file that runs, and the draft has others in Starlark: load is refused", "have all of it in "+entry)
		}
	}
	return nil
}

// EvaluatePython plans that a draft runs in Python.
func (d *drafts) EvaluatePython(ctx context.Context, in generated.EvaluatePythonInput) (govern.Run, error) {
	return d.drafts.Run(ctx, in.Validation, in.Arguments.Value.AppendCanonical(nil), in.Summary)
}

// refused is what programs see of an error.
func (d *drafts) refused(ctx context.Context, err error) error {
	var r *govern.Refusal
	if errors.As(err, &r) {
		return r
	}
	return d.service.Refused(ctx, err)
}

func draftOf(d draft.Draft) types.Draft {
	return types.Draft{Draft: d.ID, Revision: d.Revision, Hash: d.Hash, Files: each(d.Files, func(f draft.File) types.DraftFile {
		return types.DraftFile{Path: f.Path, Size: f.Size, Sha256: f.SHA256, Executable: f.Mode&0o100 != 0}
	})}
}
