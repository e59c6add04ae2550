package host

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/audit"
)

// auditFlags are of the command audit alone.
type auditFlags struct {
	heads, keys string // files
	from        uint64
}

// audit checks the files of an audit log, in their order. It needs no server,
// and fails when a record is not as it was written.
func (p *program) audit(arguments []string, flags auditFlags) int {
	if arguments[0] != "verify" {
		return p.misuse(fmt.Errorf("audit: expected verify, got %q", arguments[0]))
	}
	if (flags.heads == "") != (flags.keys == "") {
		return p.misuse(errors.New("audit verify: --heads and --keys are given both, or none"))
	}
	o := audit.VerifyOptions{From: flags.from}
	if flags.heads != "" {
		heads := &lateFile{path: flags.heads}
		defer heads.close()
		keys, err := readKeys(flags.keys)
		if err != nil {
			return p.broken(err)
		}
		o.Heads, o.Keys = heads, keys
	}
	var sources []audit.Source
	for _, path := range arguments[1:] {
		f := &lateFile{path: path}
		defer f.close()
		sources = append(sources, audit.Source{Name: path, Reader: f})
	}
	report, err := audit.Verify(sources, o)
	var bad *audit.BadRecord
	switch {
	case errors.As(err, &bad), errors.Is(err, audit.ErrNotSigned):
		if printed := p.print(visible.Text(err.Error()) + "\n"); printed != ExitOK {
			return printed
		}
		return ExitFailed
	case err != nil:
		return p.broken(err)
	}
	text := report.String() + "\n"
	if report.Unreadable > 0 {
		text += fmt.Sprintf("%d heads are torn, or signed by another key\n", report.Unreadable)
	}
	return p.print(text)
}

// maxKeys bounds a file of verifier keys, in bytes.
const maxKeys = 64 << 10

// readKeys reads verifier keys, one a line. Empty lines and those that begin
// with # are none.
func readKeys(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var keys []string
	lines := bufio.NewScanner(io.LimitReader(f, maxKeys))
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			keys = append(keys, line)
		}
	}
	return keys, lines.Err()
}

// lateFile is opened when it is read, and closed at its end: a log may have
// more files than a process may have open.
type lateFile struct {
	path string
	file *os.File
	done bool
}

func (f *lateFile) Read(p []byte) (n int, err error) {
	if f.done {
		return 0, io.EOF
	}
	if f.file == nil {
		if f.file, err = os.Open(f.path); err != nil {
			return 0, err
		}
	}
	n, err = f.file.Read(p)
	if err != nil {
		f.close()
	}
	return n, err
}

func (f *lateFile) close() {
	if f.file != nil && !f.done {
		f.file.Close()
	}
	f.done = true
}
