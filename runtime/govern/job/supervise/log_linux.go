package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/internal/visible"
)

const (
	logsName = "logs"
	// MaxTail bounds what Tail reads of a log, in bytes.
	MaxTail = 1 << 20
)

func logPath(dir, name string) string { return filepath.Join(dir, logsName, name+".log") }

// openLog opens a log to be written at its end.
func openLog(dir, name string) (*os.File, error) {
	return os.OpenFile(logPath(dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
}

// Tail is the last n bytes of a log, at most [MaxTail], of the job whose directory
// is dir. A log that is not there yet is empty.
func Tail(dir, name string, n int64) (Log, error) {
	if !slices.Contains(Logs(), name) {
		return Log{}, errors.New("supervise: there is no such log")
	}
	l := Log{Name: name}
	f, err := os.OpenFile(logPath(dir, name), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("supervise: log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return l, fmt.Errorf("supervise: log: %w", errors.Join(err, errors.New("not a regular file")))
	}
	l.Size = info.Size()
	n = max(0, min(n, MaxTail, l.Size))
	l.Truncated = n < l.Size
	text, err := io.ReadAll(io.NewSectionReader(f, l.Size-n, n))
	if err != nil {
		return l, fmt.Errorf("supervise: log: %w", err)
	}
	if l.Truncated {
		// What is left of a line may be the end of a path.
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok {
			text = rest
		}
	}
	l.Text = served(dir, string(text))
	return l, nil
}

// served is what a candidate wrote, as it is shown: no path of the host, and
// nothing that a reader cannot see.
func served(dir, text string) string {
	for range 3 { // also where a path holds spaces: the job's, that of all jobs, the state's
		if len(dir) > 1 {
			text = strings.ReplaceAll(text, dir, "<path>")
		}
		dir = filepath.Dir(dir)
	}
	var b strings.Builder
	for len(text) > 0 {
		i := strings.IndexAny(text, "\n\t")
		if i < 0 {
			i = len(text)
		}
		b.WriteString(visible.HidePaths(visible.Text(text[:i])))
		if i < len(text) {
			b.WriteByte(text[i])
			i++
		}
		text = text[i:]
	}
	return b.String()
}
