package sqlite

import (
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// disk is a virtual file system in memory, of one directory, that knows what
// would be left of it if power were lost: what was synced, and any part of what
// was not.
type disk struct {
	mu      sync.Mutex
	names   map[string]*inode
	synced  map[string]*inode // the names that the directory has on the disk
	pending []rename          // what was done to names since

	// step is called before everything that reads or changes something; its
	// error keeps that from being done.
	step func(op string) error
	// omitted is a sync that does nothing.
	omitted string
}

// inode is a file: what is written, what of it is on the disk, and what was
// written since.
type inode struct {
	data, synced []byte
	pending      []write
	locks        locks
}

// write is bytes that were written, or a truncation.
type write struct {
	at       int64
	data     []byte
	truncate bool
}

// rename says that a name stands for a file, or for none.
type rename struct {
	name string
	file *inode
}

func (w write) apply(to []byte) []byte {
	if w.truncate {
		if int64(len(to)) < w.at {
			return append(to, make([]byte, w.at-int64(len(to)))...)
		}
		return to[:w.at]
	}
	if end := w.at + int64(len(w.data)); int64(len(to)) < end {
		to = append(to, make([]byte, end-int64(len(to)))...)
	}
	copy(to[w.at:], w.data)
	return to
}

// newDisk is a disk that holds an empty file, as create leaves it.
func newDisk(name string) *disk {
	file := &inode{}
	return &disk{names: map[string]*inode{name: file}, synced: map[string]*inode{name: file}}
}

// mount makes the disk a file system of SQLite under a name of its own.
func (d *disk) mount(t testing.TB) (name string) {
	name = "disk" + strings.ToLower(t.Name()) + randomName()
	vfs.Register(name, d)
	t.Cleanup(func() { vfs.Unregister(name) })
	return name
}

func randomName() string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	b := make([]byte, 12)
	for i := range b {
		b[i] = letters[rand.N(len(letters))]
	}
	return string(b)
}

// frozen is what a disk knows at one instant.
type frozen struct {
	names   map[string]*inode
	pending []rename
}

// freeze copies what there is on the disk, and what is on its way there.
func (d *disk) freeze() frozen {
	copies := map[*inode]*inode{}
	of := func(f *inode) *inode {
		if f == nil {
			return nil
		}
		if copies[f] == nil {
			copies[f] = &inode{synced: f.synced, pending: slices.Clone(f.pending)}
		}
		return copies[f]
	}
	z := frozen{names: map[string]*inode{}}
	for name, f := range d.synced {
		z.names[name] = of(f)
	}
	for _, r := range d.pending {
		z.pending = append(z.pending, rename{r.name, of(r.file)})
	}
	return z
}

// parts counts what is on its way to the disk.
func (z frozen) parts() int {
	n := len(z.pending)
	for _, f := range z.files() {
		n += len(f.pending)
	}
	return n
}

func (z frozen) files() []*inode {
	var out []*inode
	for _, name := range slices.Sorted(maps.Keys(z.names)) {
		out = append(out, z.names[name])
	}
	for _, r := range z.pending {
		if r.file != nil && !slices.Contains(out, r.file) {
			out = append(out, r.file)
		}
	}
	return out
}

// after is the disk that power was lost on: arrived tells of each part whether
// it came to the disk, and of a write how many of its bytes did.
func (z frozen) after(arrived func(bytes int) int) *disk {
	left := map[*inode]*inode{}
	for _, f := range z.files() {
		data := slices.Clone(f.synced)
		for _, w := range f.pending {
			switch n := arrived(len(w.data)); {
			case n == 0:
			case w.truncate:
				data = w.apply(data)
			default:
				data = write{at: w.at, data: w.data[:min(n, len(w.data))]}.apply(data)
			}
		}
		left[f] = &inode{data: data, synced: data}
	}
	d := &disk{names: map[string]*inode{}}
	for name, f := range z.names {
		d.names[name] = left[f]
	}
	for _, r := range z.pending {
		switch {
		case arrived(1) == 0:
		case r.file == nil:
			delete(d.names, r.name)
		default:
			d.names[r.name] = left[r.file]
		}
	}
	d.synced = maps.Clone(d.names)
	return d
}

func (d *disk) at(op string) error {
	if d.step == nil {
		return nil
	}
	return d.step(op)
}

func (d *disk) syncDir() {
	for _, r := range d.pending {
		if r.file == nil {
			delete(d.synced, r.name)
		} else {
			d.synced[r.name] = r.file
		}
	}
	d.pending = nil
}

// Open is vfs.VFS.
func (d *disk) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	file := d.names[name]
	journal := flags&vfs.OPEN_MAIN_JOURNAL != 0
	if file == nil {
		if name == "" || flags&vfs.OPEN_CREATE == 0 {
			return nil, flags, sqlite3.CANTOPEN
		}
		if err := d.at("create"); err != nil {
			return nil, flags, err
		}
		file = &inode{}
		d.names[name] = file
		d.pending = append(d.pending, rename{name, file})
	}
	return &open1{disk: d, inode: file, journal: journal, syncsDir: journal && flags&vfs.OPEN_CREATE != 0}, flags, nil
}

// Delete is vfs.VFS.
func (d *disk) Delete(name string, syncDir bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[name] == nil {
		return sqlite3.IOERR_DELETE_NOENT
	}
	if err := d.at("remove"); err != nil {
		return err
	}
	delete(d.names, name)
	d.pending = append(d.pending, rename{name, nil})
	if !syncDir {
		return nil
	}
	if err := d.at("sync removal"); err != nil {
		return err
	}
	if d.omitted != "removal" {
		d.syncDir()
	}
	return nil
}

// Access is vfs.VFS.
func (d *disk) Access(name string, _ vfs.AccessFlag) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[name] != nil, nil
}

// FullPathname is vfs.VFS.
func (d *disk) FullPathname(name string) (string, error) { return name, nil }

// open1 is a file that is open once.
type open1 struct {
	*disk
	*inode
	journal bool
	// syncsDir: the first sync of a journal is of its name too, as those of the
	// operating system's files are in package vfs.
	syncsDir bool
	lock     vfs.LockLevel
}

func (f *open1) Close() error { return f.Unlock(vfs.LOCK_NONE) }

func (f *open1) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.at("read"); err != nil {
		return 0, err
	}
	if off >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *open1) WriteAt(p []byte, off int64) (int, error) {
	return len(p), f.change("write", write{at: off, data: slices.Clone(p)})
}

func (f *open1) Truncate(size int64) error {
	return f.change("truncate", write{at: size, truncate: true})
}

func (f *open1) change(op string, w write) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.at(op); err != nil {
		return err
	}
	f.data = w.apply(slices.Clone(f.data)) // what is frozen keeps its own
	f.inode.pending = append(f.inode.pending, w)
	return nil
}

func (f *open1) Sync(vfs.SyncFlag) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := "database"
	if f.journal {
		name = "journal"
	}
	if err := f.at("sync " + name); err != nil {
		return err
	}
	if f.omitted != name {
		f.inode.synced, f.inode.pending = f.data, nil
	}
	if f.syncsDir {
		f.syncsDir = false
		if err := f.at("sync journal's name"); err != nil {
			return err
		}
		if f.omitted != "journal's name" {
			f.syncDir()
		}
	}
	return nil
}

func (f *open1) Size() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.data)), nil
}

func (f *open1) SectorSize() int { return 4096 }

// DeviceCharacteristics are those that package vfs tells of files on Linux.
func (f *open1) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return vfs.IOCAP_POWERSAFE_OVERWRITE | vfs.IOCAP_SUBPAGE_READ
}

// locks of one file, between its connections.
type locks struct {
	shared            int
	reserved, pending *open1
}

func (f *open1) Lock(level vfs.LockLevel) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lock >= level {
		return nil
	}
	l := &f.locks
	switch level {
	case vfs.LOCK_SHARED:
		if l.pending != nil {
			return sqlite3.BUSY
		}
		l.shared++
	case vfs.LOCK_RESERVED:
		if l.reserved != nil {
			return sqlite3.BUSY
		}
		l.reserved = f
	case vfs.LOCK_EXCLUSIVE:
		if l.pending != nil && l.pending != f {
			return sqlite3.BUSY
		}
		l.pending = f
		if l.shared > 1 {
			return sqlite3.BUSY
		}
	}
	f.lock = level
	return nil
}

func (f *open1) Unlock(level vfs.LockLevel) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := &f.locks
	if l.reserved == f {
		l.reserved = nil
	}
	if l.pending == f {
		l.pending = nil
	}
	if level == vfs.LOCK_NONE && f.lock > vfs.LOCK_NONE {
		l.shared--
	}
	f.lock = min(f.lock, level)
	return nil
}

func (f *open1) CheckReservedLock() (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.locks.reserved != nil, nil
}
