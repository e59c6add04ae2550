package review

import (
	"cmp"
	"fmt"

	"github.com/capgen/capgen/schema"
	"github.com/capgen/capgen/schema/breaking"
)

// Input is what a review is made of. Both manifests are of schema.Load and
// accepted by codegen.Generate.
type Input struct {
	Base, Head *schema.Manifest
	// BaseName and HeadName say where the two come from.
	BaseName, HeadName string
	// File is the head's manifest, where findings stand that have no place in
	// it because something is gone.
	File string
	// Today is the day on which waivers and removals are judged, of the form
	// 2026-11-29.
	Today string
	// Waivers of the head.
	Waivers []*schema.Waiver
	// Generated are findings about the head's generated files; nil when all
	// are in sync. GeneratedKnown tells whether they were looked at.
	Generated      []schema.Diagnostic
	GeneratedKnown bool
}

// Review is a comparison with its waivers applied.
type Review struct {
	Input
	*breaking.Report
	Items []*Item
	// Problems are those of waivers; each fails the review.
	Problems []schema.Diagnostic
	// BaseContract and HeadContract are the hashes of the two contracts.
	BaseContract, HeadContract string

	base, head *prints
}

// Item is a finding with what waives it.
type Item struct {
	*breaking.Finding
	// Fingerprint is that of the capability, type or manifest in the head or,
	// of what is gone, in the base.
	Fingerprint string
	// Waiver is nil for none.
	Waiver *schema.Waiver
}

// New compares and applies waivers. An error is a manifest that Generate would
// not accept.
func New(in Input) (*Review, error) {
	r := &Review{Input: in, Report: breaking.Compare(in.Base, in.Head, in.Today)}
	var err error
	if r.base, err = newPrints(in.Base); err != nil {
		return nil, fmt.Errorf("review: base: %w", err)
	}
	if r.head, err = newPrints(in.Head); err != nil {
		return nil, fmt.Errorf("review: head: %w", err)
	}
	r.BaseContract, r.HeadContract = r.base.contract, r.head.contract
	for _, f := range r.Findings {
		if f.File == "" {
			f.File = in.File
		}
		r.Items = append(r.Items, &Item{Finding: f, Fingerprint: r.fingerprint(f)})
	}
	r.waive()
	return r, nil
}

// fingerprint is of the head or, of what is gone, of the base.
func (r *Review) fingerprint(f *breaking.Finding) string {
	return cmp.Or(r.head.of(f), r.base.of(f), r.head.manifest)
}

// Unwaived are the breaking findings that no waiver lets pass.
func (r *Review) Unwaived() []*Item {
	var out []*Item
	for _, i := range r.Items {
		if i.Level == breaking.Breaking && i.Waiver == nil {
			out = append(out, i)
		}
	}
	return out
}

// Failed tells whether something is wrong: a breaking finding without waiver, a
// waiver, or generated files that are not what the head means.
func (r *Review) Failed() bool {
	return len(r.Unwaived()) > 0 || len(r.Problems) > 0 || len(r.Generated) > 0
}

// count is how many items have the level and, of the breaking ones, a waiver
// or none.
func (r *Review) count(level breaking.Level, waived bool) int {
	n := 0
	for _, i := range r.Items {
		if i.Level == level && (i.Waiver != nil) == waived {
			n++
		}
	}
	return n
}

// changed are the pairs whose contract differs.
func (r *Review) changed() []breaking.Pair {
	var out []breaking.Pair
	for _, p := range r.Pairs {
		if r.base.capabilities[p.Base.Name] != r.head.capabilities[p.Head.Name] {
			out = append(out, p)
		}
	}
	return out
}
