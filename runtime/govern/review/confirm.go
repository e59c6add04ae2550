package review

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strings"
	"time"
)

// ErrNotConfirmed is the error for an answer that is not the words that were
// asked for, and for none in time. A command line that gets it exits with 2.
var ErrNotConfirmed = errors.New("review: not confirmed")

const (
	// words is how many are asked for: of 10,560 each, 53 bits in all.
	words = 4
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 256
)

// Terminal is the terminal of this process, whatever its standard streams are.
type Terminal struct{ tty *os.File }

// OpenTerminal opens /dev/tty, and fails where the process has none: an approval
// is given at a terminal. It fails with one that would break a line in two, too:
// what begins on the second has no mark, and could pass for a line of Render's.
func OpenTerminal() (*Terminal, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("review: an approval is given at a terminal, and there is none: %w", err)
	}
	if n := terminalColumns(tty); n > 0 && n < width {
		return nil, errors.Join(fmt.Errorf("review: the terminal has %d columns: lines of up to %d would break, and parts of a text could pass for ours; widen it", n, width), tty.Close())
	}
	return &Terminal{tty}, nil
}

// Write writes to the terminal, for [Render].
func (t *Terminal) Write(b []byte) (int, error) { return t.tty.Write(b) }

// Close closes it.
func (t *Terminal) Close() error { return t.tty.Close() }

// Confirm draws random words, writes them below all that was written before, and
// returns nil if the next line is exactly these: whoever answers has seen the
// end of what Render wrote, and the words are good for this once. They do not
// follow from the plan, or whoever asks would know them. what is what the words
// do, such as "approve plan_…". Anything else, and the end of ctx or of what can
// be read, is [ErrNotConfirmed].
func (t *Terminal) Confirm(ctx context.Context, what string) error {
	asked, err := draw()
	if err != nil {
		return fmt.Errorf("review: confirm: %w", err)
	}
	// A reader that is stopped, by its context, wakes up.
	if err := t.tty.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("review: confirm: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { t.tty.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := fmt.Fprintf(t.tty, "To %s, type: %s\n> ", escape(what), asked); err != nil {
		return fmt.Errorf("review: confirm: %w", err)
	}
	answer, err := readLine(t.tty)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrNotConfirmed, context.Cause(ctx))
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotConfirmed, err)
	case answer != asked:
		return fmt.Errorf("%w: the answer is not the words", ErrNotConfirmed)
	}
	return nil
}

// readLine reads up to a line feed, byte by byte: nothing behind it is taken
// from whoever reads next.
func readLine(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) <= maxAnswer {
		n, err := r.Read(one)
		switch {
		case n == 1 && one[0] == '\n':
			return string(line), nil
		case n == 1:
			line = append(line, one[0])
		case err != nil:
			return "", err
		}
	}
	return "", fmt.Errorf("the answer has more than %d bytes", maxAnswer)
}

// draw is words made of two syllables, of letters that are told apart at a
// glance: bulan, tavor.
func draw() (string, error) {
	drawn := make([]string, words)
	for i := range drawn {
		for _, letters := range [...]string{"bdkmnprstvz", "aiou", "bdklmnprstvz", "aiou", "lmnrt"} {
			n, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
			if err != nil {
				return "", err
			}
			drawn[i] += letters[n.Int64() : n.Int64()+1]
		}
	}
	return strings.Join(drawn, " "), nil
}
