package review

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// Bounds of what is shown. What is beyond them is listed by size and hash.
const (
	MaxArgumentBytes = 256 << 10 // of the canonical arguments
	MaxPreviewBytes  = 64 << 10  // of a preview; longer ones are an error
	MaxTextBytes     = 256 << 10 // of a file that is shown, before or after
	MaxShownBytes    = 2 << 20   // of all differences, as they are written
)

// Objects reads an object of the content store, of at most max bytes; one that
// is not there is [fs.ErrNotExist]. [cas.Store.Get] is one.
type Objects func(digest cas.Digest, max int64) ([]byte, error)

// Render writes what the plan with this body does, for people to read, and
// returns the SHA-256 of what it wrote. Each object is read, its digest checked,
// and those bytes are shown. An error says that not all could be shown: then
// nothing may be approved.
//
// Of a change all that is done is listed: first what is deleted, then modes that
// change and new files that can be run, then what is modified, then what is
// added. Of texts the difference is shown, or all of a new one; deleted files,
// other content, and what is beyond the bounds is listed by size and SHA-256.
//
// Of a run all that decides what the candidate can do is listed, and then its
// code. Its program is looked for by programs: where the one that the plan froze
// is not there, the page is whole and says so, and the error is [ErrProgram].
func Render(w io.Writer, body []byte, objects Objects, programs Programs) (shown [32]byte, err error) {
	p, err := plan.Parse(body)
	if err != nil {
		return shown, fmt.Errorf("review: %w", err)
	}
	r := &renderer{page: newPage(w), objects: objects}
	r.header(p, plan.HashOf(body))
	switch {
	case p.Change != nil:
		err = r.change(p.Change)
	case p.Run != nil:
		err = r.run(p, programs)
	default:
		err = r.call(p)
	}
	if err != nil {
		return shown, fmt.Errorf("review: %w", err)
	}
	r.footer(p)
	if shown, err = r.end(); err != nil {
		return shown, fmt.Errorf("review: %w", err)
	}
	if r.stale {
		return shown, ErrProgram
	}
	return shown, nil
}

// renderer writes one page.
type renderer struct {
	*page
	objects Objects
	spent   int64 // bytes of differences that were written
	unshown int   // files of which only size and hash stand there
	hidden  bool  // the arguments are among what is not shown
	stale   bool  // the program of a run is not there as the plan says
}

// read is the object, which has the digest.
func (r *renderer) read(d cas.Digest, max int64) ([]byte, error) {
	content, err := r.objects(d, max)
	switch {
	case err != nil:
		return nil, err
	case int64(len(content)) > max:
		return nil, fmt.Errorf("object %s has more than %d bytes", d, max)
	case cas.Of(content) != d:
		return nil, fmt.Errorf("object %s: %w", d, cas.ErrCorrupt)
	}
	return content, nil
}

func (r *renderer) header(p plan.Plan, hash plan.Hash) {
	r.head("PLAN %s", p.ID)
	r.head("  hash      %s", hash)
	r.head("  calls     %s, effect %s", escape(p.Name), p.Effect)
	r.head("  id        %s", escape(p.Capability))
	r.head("  contract  %s", p.Contract)
	r.head("  asked by  %s", escape(p.Owner))
	peer := "not known"
	if p.PeerUID != nil {
		peer = fmt.Sprintf("account %d", *p.PeerUID)
	}
	r.head("  accounts  server: account %d, client: %s", p.ServerUID, peer)
	r.head("  store     %s", p.Store)
	r.head("  made      %s", moment(p.Created.Wall))
	r.head("  expires   %s", moment(p.Expires().Wall))
	r.head("  approvals %d needed, each good for %s", p.Policy.Min, p.Policy.TTL)
	r.head("  policy    %s", p.Policy.Hash())
	if p.Policy.SelfAllowed {
		r.head("  self      allow: THE ACCOUNT THAT ASKS MAY APPROVE")
	} else {
		r.head("  self      forbid: the accounts above may not approve")
	}
	switch p.Separation {
	case plan.SeparationFull:
		r.head("  separated full: agent, server and approver have an account each")
	case plan.SeparationPartial:
		r.head("  separated PARTLY: agent and server share an account, approvers have their own")
	case plan.SeparationUnknown:
		r.head("  separated UNKNOWN: it cannot be seen whether the agent could approve")
	default:
		r.head("  separated NONE: the agent could approve what it asks for")
	}
	r.head("ARGUMENTS")
	r.arguments(p.Arguments)
}

// arguments writes a canonical object, of which two that differ never look alike.
func (r *renderer) arguments(object []byte) {
	if len(object) > MaxArgumentBytes {
		r.head("    NOT SHOWN: %d bytes", len(object))
		r.sum(cas.Of(object))
		r.hidden = true
	} else {
		r.quote(markText, string(object))
	}
}

// moment is a time as people of all places read it.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000 UTC") }

// call shows what a write or destroy would do, in the words that its server
// shows again at landing.
func (r *renderer) call(p plan.Plan) error {
	if p.Preview == nil {
		r.head("PREVIEW")
		r.head("  the capability has none: the arguments are all there is to see")
		return nil
	}
	text, err := r.read(*p.Preview, MaxPreviewBytes)
	if err != nil {
		return fmt.Errorf("the preview: %w", err)
	}
	r.head("PREVIEW, as the server tells it: nobody has checked it")
	r.sum(*p.Preview)
	r.text(string(text))
	return nil
}

func (r *renderer) change(c *plan.Change) error {
	pre, err := r.tree(c.Pre)
	if err != nil {
		return fmt.Errorf("the tree before: %w", err)
	}
	post, err := r.tree(c.Post)
	if err != nil {
		return fmt.Errorf("the tree after: %w", err)
	}
	r.head("CHANGE")
	r.head("  root      %s", escape(c.Root))
	r.head("  directory %s", escape(c.Path))
	r.head("  before    %s", present(pre))
	r.head("  after     %s", present(post))
	if c.Summary != "" {
		r.head("SUMMARY, as it was told: nobody has checked it")
		r.text(c.Summary)
	}
	groups, err := grouped(plan.Actions(pre, post))
	if err != nil {
		return err
	}
	for _, g := range groups {
		if len(g.actions) == 0 {
			continue
		}
		r.head("%s: %d", g.title, len(g.actions))
		for _, a := range g.actions {
			if err := r.action(a); err != nil {
				return fmt.Errorf("%q: %w", a.Path, err)
			}
		}
	}
	return nil
}

func (r *renderer) tree(h change.Hash) (change.Tree, error) {
	if h == change.Absent.Hash() {
		return change.Absent, nil
	}
	text, err := r.read(cas.Digest(h), change.MaxTreeText)
	if err != nil {
		return change.Tree{}, err
	}
	return change.ParseTree(text)
}

func present(t change.Tree) string {
	if !t.Present {
		return "no directory is there"
	}
	return t.Hash().String()
}

func (r *renderer) footer(p plan.Plan) {
	if r.hidden {
		r.head("NOT ALL IS SHOWN: of the arguments, size and SHA-256 alone.")
	}
	if r.unshown > 0 {
		r.head("NOT ALL IS SHOWN: of new content, size and SHA-256 alone: %d times.", r.unshown)
	}
	if r.stale {
		r.head("IT CANNOT BE APPROVED: the program is not here as the plan says.")
	}
	if !r.hidden && r.unshown == 0 && p.Run != nil {
		r.head("All is shown.")
	} else if !r.hidden && r.unshown == 0 {
		r.head("All is shown; of what is deleted or replaced as a whole, size and SHA-256.")
	}
	r.head("END OF %s", p.ID)
}

// absent tells whether an object is simply not there.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// sum writes a digest; it fits on one line.
func (r *renderer) sum(d cas.Digest) { r.head("    SHA-256 %s", d) }
