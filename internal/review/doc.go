// Package review says of a change of a manifest what a reviewer has to see:
// findings with waivers, and the summary of a pull request. It must never know
// git, disks or a clock, nor trust what it quotes: manifests come from whoever
// opened the pull request.
//
//	r, err := review.New(review.Input{Base: base, Head: head, BaseName: "git:main", HeadName: "capabilities.yaml", Today: "2026-11-29"})
//	…
//	r.WriteMarkdown(os.Stdout)
//	if r.Failed() {
//		os.Exit(1)
//	}
//
// escape.go makes every quoted text inert: it can end no code, begin no markup
// and mention nobody. The sections of the summary are a file each.
package review
