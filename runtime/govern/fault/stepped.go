package fault

import (
	"io/fs"

	"github.com/capgen/capgen/runtime/govern/root"
)

// Stepped is d, and calls step before each change and each sync, of d and of
// whatever is opened through it. An error of step is the operation's. A step
// that kills its process shows what a crash leaves on a real disk.
func Stepped(d root.Dir, step func() error) root.Dir { return &stepped{d, step} }

type stepped struct {
	root.Dir
	step func() error
}

func (s *stepped) Sub(name string) (root.Dir, error) {
	d, err := s.Dir.Sub(name)
	if err != nil {
		return nil, err
	}
	return Stepped(d, s.step), nil
}

func (s *stepped) Make(name string, mode fs.FileMode) (root.Dir, error) {
	if err := s.step(); err != nil {
		return nil, err
	}
	d, err := s.Dir.Make(name, mode)
	if err != nil {
		return nil, err
	}
	return Stepped(d, s.step), nil
}

func (s *stepped) Create(name string, mode fs.FileMode) (root.Handle, error) {
	if err := s.step(); err != nil {
		return nil, err
	}
	f, err := s.Dir.Create(name, mode)
	if err != nil {
		return nil, err
	}
	return &steppedFile{f, s.step}, nil
}

func (s *stepped) Exchange(a, b string) error {
	return s.then(func() error { return s.Dir.Exchange(a, b) })
}

func (s *stepped) Move(from, to string) error {
	return s.then(func() error { return s.Dir.Move(from, to) })
}

func (s *stepped) Remove(name string) error {
	return s.then(func() error { return s.Dir.Remove(name) })
}

func (s *stepped) SetMode(mode fs.FileMode) error {
	return s.then(func() error { return s.Dir.SetMode(mode) })
}

func (s *stepped) Sync() error { return s.then(s.Dir.Sync) }

func (s *stepped) then(do func() error) error {
	if err := s.step(); err != nil {
		return err
	}
	return do()
}

type steppedFile struct {
	root.Handle
	step func() error
}

func (f *steppedFile) Write(p []byte) (int, error) {
	if err := f.step(); err != nil {
		return 0, err
	}
	return f.Handle.Write(p)
}

func (f *steppedFile) SetMode(mode fs.FileMode) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.Handle.SetMode(mode)
}

func (f *steppedFile) Sync() error {
	if err := f.step(); err != nil {
		return err
	}
	return f.Handle.Sync()
}
