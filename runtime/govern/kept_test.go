package govern

import (
	"testing"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/store"
)

// TestObjectsAreThere: a change of which an object is gone or altered is refused
// before anything is spent, and lands once the object is there again.
func TestObjectsAreThere(t *testing.T) {
	spoils := map[string]func(*scene, cas.Digest) error{
		"gone": func(s *scene, d cas.Digest) error { return s.objects.Remove(d.String()) },
		"altered": func(s *scene, d cas.Digest) error {
			if err := s.objects.Remove(d.String()); err != nil {
				return err
			}
			f, err := s.objects.Create(d.String(), 0o600)
			if err == nil {
				_, err = f.Write([]byte("bad"))
			}
			return err
		},
	}
	post, contents, err := treeOf(files(after))
	if err != nil {
		t.Fatal(err)
	}
	contents[cas.Digest(post.Hash())] = post.AppendCanonical(nil)
	for d, content := range contents {
		for name, spoil := range spoils {
			t.Run(name+" "+string(content[:3]), func(t *testing.T) {
				s := newScene(t, scenery{})
				s.place(t, before)
				p := s.prepareChange(t)
				s.approve(t, ada, p.Plan)
				if err := spoil(s, d); err != nil {
					t.Fatal(err)
				}
				if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); code(err) != Internal {
					t.Errorf("%v", err)
				}
				if got := s.last(t, 1); got != "plan.land!internal" {
					t.Errorf("in the trail: %s", got)
				}
				err := s.db.View(t.Context(), func(tx *store.Tx) error {
					row, err := tx.Plan(p.Plan)
					if err != nil || row.Status != store.Prepared {
						t.Errorf("the plan is %s, %v", row.Status, err)
					}
					list, err := tx.Approvals(p.Plan)
					if err == nil && (len(list) != 1 || list[0].UsedBy != "") {
						t.Errorf("approvals: %+v", list)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.blobs.Put(content); err != nil {
					t.Fatal(err)
				}
				if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); err != nil || s.there(t) != treeHash(t, after) {
					t.Errorf("afterwards: %v", err)
				}
			})
		}
	}
}
