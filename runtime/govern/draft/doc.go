// Package draft keeps directories that are being written, each its owner's: a
// program makes one, changes it file by file, has it validated, and then plans to
// put it where it belongs. It must never know what the files mean, and nothing
// that it does is seen outside of the state directory.
//
//	d, err := drafts.Create(ctx, []govern.File{{Path: "entry.py", Content: source}})
//	...
//	d, err = drafts.Update(ctx, d.ID, d.Revision, draft.Edit{Path: "entry.py", Was: d.Files[0].SHA256, Content: better})
//	...
//	v, err := drafts.Validate(ctx, d.ID, d.Revision, check)
//	...
//	change, err := drafts.Change(ctx, v.Token, "strategies", "momentum", "publish momentum")
//
// A draft is a tree as package change describes it, among the objects of the
// service. Who changes one says which revision they have seen, and what the file
// was: nobody overwrites what they did not read. A token of a validation counts
// as long as the draft is what was validated, as often as it is shown.
package draft
