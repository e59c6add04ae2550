package schema

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// sourceFiles reads the files that a manifest consists of, each once.
type sourceFiles struct {
	report *report
	limits limits
	dir    string // of the manifest, as positions show it
	main   string // the manifest's name, which may be written in any way
	open   func(path string) ([]byte, error)
	trees  map[string]*node // by path below dir; nil for one that cannot be read
	bytes  int
}

func newSourceFiles(r *report, l limits, name string, open func(string) ([]byte, error)) *sourceFiles {
	return &sourceFiles{report: r, limits: l, dir: path.Dir(name), main: name, open: open, trees: make(map[string]*node)}
}

// manifest reads the tree of the manifest itself.
func (s *sourceFiles) manifest(text []byte) *node {
	s.bytes = len(text)
	tree := parse(s.report, s.limits, s.main, text)
	s.trees[path.Base(s.main)] = tree
	return tree
}

// read returns the tree of a file, or nil with the reason reported: at the
// place that names the file, or inside of it.
func (s *sourceFiles) read(name string, at Position) *node {
	if tree, known := s.trees[name]; known {
		return tree
	}
	s.trees[name] = nil
	if len(s.trees) > s.limits.files {
		s.report.errorf(at, ruleLimit, "the manifest consists of more than %d files", s.limits.files).hint("put several parts, or schemas, into one file")
		return nil
	}
	text, err := s.open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.report.errorf(at, ruleFileMissing, "there is no file %s", plain(path.Join(s.dir, name), maxQuotedPath)).
			hint("a path is relative to the file that it stands in")
		return nil
	case err != nil:
		s.report.errorf(at, ruleFileMissing, "%s cannot be read: %s", plain(path.Join(s.dir, name), maxQuotedPath), plain(err.Error(), maxPlain)).
			hint("it has to be a regular file below the manifest's directory, links followed")
		return nil
	case s.bytes+len(text) > s.limits.allBytes:
		s.report.errorf(at, ruleFileTooLarge, "with %s the manifest has more than %d bytes", plain(path.Join(s.dir, name), maxQuotedPath), s.limits.allBytes).
			hint("split the manifest into several servers")
		return nil
	}
	s.bytes += len(text)
	s.trees[name] = parse(s.report, s.limits, path.Join(s.dir, name), text)
	return s.trees[name]
}

// resolve turns a path that stands in a file into one below the manifest's
// directory. Every path is plain: what could mean several files, or one
// elsewhere, is refused before anything is opened.
func (s *sourceFiles) resolve(at Position, written string) (string, bool) {
	bad := func(hint, format string, args ...any) (string, bool) {
		s.report.errorf(at, ruleBadPath, format, args...).hint("%s", hint)
		return "", false
	}
	const example = "write it relative to this file, such as parts/records.yaml"
	switch {
	case written == "" || len(written) > maxPath:
		return bad(example, "a path has 1 to %d bytes", maxPath)
	case strings.HasPrefix(written, "/"):
		return bad(example, "%s is an absolute path", quote(written))
	case strings.ContainsAny(written, "\\:"):
		return bad("write / between the parts of a path", "%s holds a character that is part of a path on some systems only", quote(written))
	case strings.ContainsAny(written, "*?[]{}"):
		return bad("list every file: a file that is added should be seen in a review", "%s is a pattern, not a path", quote(written))
	case strings.ContainsFunc(written, func(r rune) bool { return isControl(r) || isInvisible(r) || r == '\uFFFD' }):
		return bad(example, "%s holds a character that cannot be seen", quote(written))
	}
	trimmed := strings.TrimPrefix(written, "./")
	for segment := range strings.SplitSeq(trimmed, "/") {
		if segment == "" || segment == "." {
			return bad(example, "%s has an empty part", quote(written))
		}
	}
	joined := path.Join(s.folder(at.File), trimmed)
	if !fs.ValidPath(joined) || joined == "." {
		return bad("move the file below the directory of the manifest", "%s leaves the directory of the manifest", quote(written))
	}
	switch path.Ext(joined) {
	case ".yaml", ".yml", ".json":
		return joined, true
	}
	return bad("name the file so: its name says how it is read", "%s is neither .yaml, .yml nor .json", quote(written))
}

// folder is where the file of that position lies, below the manifest's
// directory.
func (s *sourceFiles) folder(file string) string {
	switch {
	case file == s.main:
		return "."
	case s.dir != ".":
		file = strings.TrimPrefix(file, strings.TrimSuffix(s.dir, "/")+"/")
	}
	return path.Dir(file)
}

// maxPath is how long a path in a manifest may be, in bytes.
const maxPath = 512

func (s *sourceFiles) isManifest(name string) bool { return name == path.Base(s.main) }
