package fault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/govern/root"
)

// dir is a root.Dir of a Disk.
type dir struct {
	disk *Disk
	id   inode
}

func refused(operation, name string, err error) error {
	return &fs.PathError{Op: "fault: " + operation, Path: name, Err: err}
}

// child is the object name in d, with the disk locked.
func (d *dir) child(name string) (inode, *object, error) {
	if err := root.CheckName(name); err != nil {
		return 0, nil, err
	}
	if d.disk.stopAt > 0 && d.disk.steps >= d.disk.stopAt {
		return 0, nil, ErrStopped
	}
	id, ok := d.disk.seen[d.id].names[name]
	if !ok {
		return 0, nil, refused("look up", name, fs.ErrNotExist)
	}
	return id, d.disk.seen[id], nil
}

func (d *dir) Sub(name string) (root.Dir, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	id, o, err := d.child(name)
	if err == nil && !o.dir {
		err = refused("open", name, root.ErrConfined)
	}
	if err != nil {
		return nil, err
	}
	return &dir{d.disk, id}, nil
}

// add makes an object called name.
func (d *dir) add(name string, o object) (inode, error) {
	if err := root.CheckName(name); err != nil {
		return 0, err
	}
	if _, ok := d.disk.seen[d.id].names[name]; ok {
		return 0, refused("create", name, fs.ErrExist)
	}
	id := d.disk.next
	d.disk.next++
	// The object is there without a name, as one that was never linked.
	d.disk.seen[id], d.disk.synced[id] = o.clone(), o.clone()
	return id, d.disk.do(d.id, func(m image) { m[d.id].names[name] = id }, nil)
}

func (d *dir) Make(name string, mode fs.FileMode) (root.Dir, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	id, err := d.add(name, object{dir: true, mode: mode, names: map[string]inode{}})
	if err != nil {
		return nil, err
	}
	return &dir{d.disk, id}, nil
}

func (d *dir) Open(name string) (root.Handle, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	id, o, err := d.child(name)
	if err == nil && o.dir {
		err = refused("open", name, root.ErrConfined)
	}
	if err != nil {
		return nil, err
	}
	return &file{disk: d.disk, id: id, Reader: bytes.NewReader(o.content)}, nil
}

func (d *dir) Create(name string, mode fs.FileMode) (root.Handle, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	id, err := d.add(name, object{mode: mode})
	if err != nil {
		return nil, err
	}
	return &file{disk: d.disk, id: id, Reader: bytes.NewReader(nil)}, nil
}

func (d *dir) Lookup(name string) (root.Entry, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	_, o, err := d.child(name)
	if err != nil {
		return root.Entry{}, err
	}
	return o.entry(name), nil
}

func (o *object) entry(name string) root.Entry {
	e := root.Entry{Name: name, Kind: root.File, Mode: o.mode, Size: int64(len(o.content)), Links: 1}
	if o.dir {
		e.Kind = root.Directory
	}
	return e
}

func (d *dir) Entries(max int) ([]root.Entry, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	names := d.disk.seen[d.id].names
	if len(names) > max {
		return nil, fmt.Errorf("%w than %d", root.ErrTooMany, max)
	}
	entries := make([]root.Entry, 0, len(names))
	for name, id := range names {
		entries = append(entries, d.disk.seen[id].entry(name))
	}
	slices.SortFunc(entries, func(a, b root.Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

func (d *dir) Exchange(a, b string) error {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	for _, name := range []string{a, b} {
		if _, _, err := d.child(name); err != nil {
			return err
		}
	}
	return d.disk.do(d.id, func(m image) {
		names := m[d.id].names
		x, first := names[a]
		y, second := names[b]
		if first && second {
			names[a], names[b] = y, x
		}
	}, nil)
}

func (d *dir) Move(from, to string) error {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	if _, _, err := d.child(from); err != nil {
		return err
	}
	if _, _, err := d.child(to); err == nil {
		return refused("move", to, fs.ErrExist)
	}
	return d.disk.do(d.id, func(m image) {
		names := m[d.id].names
		if id, ok := names[from]; ok {
			delete(names, from)
			names[to] = id
		}
	}, nil)
}

func (d *dir) Remove(name string) error {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	_, o, err := d.child(name)
	if err == nil && len(o.names) > 0 {
		err = refused("remove", name, fs.ErrExist)
	}
	if err != nil {
		return err
	}
	return d.disk.do(d.id, func(m image) { delete(m[d.id].names, name) }, nil)
}

func (d *dir) SetMode(mode fs.FileMode) error {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	return d.disk.do(d.id, func(m image) { m[d.id].mode = mode }, nil)
}

func (d *dir) Mode() (fs.FileMode, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	return d.disk.seen[d.id].mode, nil
}

func (d *dir) Sync() error { return d.disk.sync(d.id) }

func (d *dir) Lock(ctx context.Context) (func(), error) {
	d.disk.mu.Lock()
	lock, ok := d.disk.locks[d.id]
	if !ok {
		lock = make(chan struct{}, 1)
		d.disk.locks[d.id] = lock
	}
	d.disk.mu.Unlock()
	select { // one that is free is taken, ctx or not
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	default:
	}
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (d *dir) Close() error { return nil }

// file is a root.Handle of a Disk. It reads what was there when it was opened.
type file struct {
	io.Reader
	disk *Disk
	id   inode
}

func (f *file) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	content, at := bytes.Clone(p), len(f.disk.seen[f.id].content)
	// A write whose beginning was lost leaves zeros there.
	put := func(m image, content []byte) {
		o := m[f.id]
		whole := make([]byte, max(len(o.content), at+len(content)))
		copy(whole, o.content)
		copy(whole[at:], content)
		o.content = whole
	}
	err := f.disk.do(f.id,
		func(m image) { put(m, content) },
		func(m image) { put(m, content[:len(content)/2]) })
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *file) SetMode(mode fs.FileMode) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.disk.do(f.id, func(m image) { m[f.id].mode = mode }, nil)
}

func (f *file) Stat() (root.Entry, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.disk.seen[f.id].entry(""), nil
}

func (f *file) Sync() error { return f.disk.sync(f.id) }

func (f *file) Close() error { return nil }
