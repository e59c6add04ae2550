package fault

import (
	"errors"
	"io/fs"
	"iter"
	"maps"
	"sync"

	"github.com/capgen/capgen/runtime/govern/root"
)

// ErrStopped is the error of every operation on a disk that has stopped.
var ErrStopped = errors.New("fault: the machine is gone")

// maxPending bounds the changes of which every choice is tried: 2 to its power.
const maxPending = 12

type inode int

// top is the directory that Root gives.
const top inode = 0

// object is a file or a directory.
type object struct {
	dir     bool
	mode    fs.FileMode
	content []byte
	names   map[string]inode
}

func (o *object) clone() *object {
	c := *o
	c.names = maps.Clone(o.names)
	return &c
}

// image is the state of a whole disk.
type image map[inode]*object

func (m image) clone() image {
	c := make(image, len(m))
	for i, o := range m {
		c[i] = o.clone()
	}
	return c
}

// change is one that is seen and not synced.
type change struct {
	of     inode // whose Sync makes it durable
	apply  func(image)
	halved func(image) // what may be there of it, besides all and nothing; or nil
}

// Disk is a disk in memory. It may be used by several goroutines at a time.
type Disk struct {
	mu      sync.Mutex
	seen    image
	synced  image
	pending []change
	next    inode
	steps   int
	stopAt  int
	syncs   int
	lies    int
	locks   map[inode]chan struct{}
}

// NewDisk returns an empty disk that does not stop.
func NewDisk() *Disk {
	empty := image{top: {dir: true, mode: 0o755, names: map[string]inode{}}}
	return fromImage(empty, top+1)
}

func fromImage(m image, next inode) *Disk {
	return &Disk{seen: m, synced: m.clone(), next: next, locks: map[inode]chan struct{}{}}
}

// Root is the disk's top directory.
func (d *Disk) Root() root.Dir { return &dir{d, top} }

// StopAt makes the n-th step from now, counted from 1, and all that follow fail
// with [ErrStopped] before they do anything. 0 is never.
func (d *Disk) StopAt(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steps, d.stopAt = 0, n
}

// LieAt makes the n-th Sync from now, counted from 1, report success without
// doing anything. 0 is never.
func (d *Disk) LieAt(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncs, d.lies = 0, n
}

// Syncs is how many Syncs were called since LieAt, or ever.
func (d *Disk) Syncs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncs
}

// Step counts a step of something else that stops with the disk, such as a
// database's commit.
func (d *Disk) Step() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.step()
}

func (d *Disk) step() error {
	d.steps++
	if d.stopAt > 0 && d.steps >= d.stopAt {
		return ErrStopped
	}
	return nil
}

// do carries out a change that the Sync of of makes durable.
func (d *Disk) do(of inode, apply, halved func(image)) error {
	if err := d.step(); err != nil {
		return err
	}
	apply(d.seen)
	d.pending = append(d.pending, change{of, apply, halved})
	return nil
}

// sync makes the changes of an object durable, in their order.
func (d *Disk) sync(of inode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	if d.syncs++; d.syncs == d.lies {
		return nil
	}
	rest := d.pending[:0:0]
	for _, c := range d.pending {
		if c.of == of {
			c.apply(d.synced)
		} else {
			rest = append(rest, c)
		}
	}
	d.pending = rest
	return nil
}

// Crashes are the disks that may be found when the power goes now. Of more than
// 12 changes that are not synced, the first ones are lost or kept all alike.
func (d *Disk) Crashes() iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		d.mu.Lock()
		base, pending, next := d.synced.clone(), d.pending, d.next
		d.mu.Unlock()
		early := pending[:max(0, len(pending)-maxPending)]
		pending = pending[len(early):]
		for kept := range 2 {
			if kept == 1 && len(early) == 0 {
				return
			}
			from := base.clone()
			for _, c := range early {
				if kept == 1 {
					c.apply(from)
				}
			}
			if !choose(from, pending, next, yield) {
				return
			}
		}
	}
}

// choose yields from with every choice of changes.
func choose(from image, pending []change, next inode, yield func(*Disk) bool) bool {
	if len(pending) == 0 {
		return yield(fromImage(from, next))
	}
	first, rest := pending[0], pending[1:]
	for _, apply := range []func(image){func(image) {}, first.apply, first.halved} {
		if apply == nil {
			continue
		}
		m := from.clone()
		apply(m)
		if !choose(m, rest, next, yield) {
			return false
		}
	}
	return true
}
