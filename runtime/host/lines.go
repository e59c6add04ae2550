package host

import (
	"bufio"
	"errors"
	"io"
)

// maxMessageBytes bounds one message on standard input. It is far above what
// the largest program with its escapes needs.
const maxMessageBytes = 8 << 20

// frame is one line as it was read: its bytes without the line end, or that
// it was too long, or why there are no more.
type frame struct {
	line    []byte
	tooLong bool
	err     error
}

// readFrames sends the lines of in until it ends or done is closed. Each line
// has bytes of its own. Memory is bounded by max; what a longer line holds is
// read and dropped, so that the next one is found.
func readFrames(in io.Reader, max int, frames chan<- frame, done <-chan struct{}) {
	r := bufio.NewReaderSize(in, 64<<10)
	send := func(f frame) bool {
		select {
		case frames <- f:
			return true
		case <-done:
			return false
		}
	}
	for {
		f := readFrame(r, max)
		// The last line may lack its end.
		if blank := len(f.line) == 0 && !f.tooLong; !blank && !send(frame{line: f.line, tooLong: f.tooLong}) {
			return
		}
		if f.err != nil {
			send(frame{err: f.err})
			return
		}
	}
}

func readFrame(r *bufio.Reader, max int) (f frame) {
	for {
		part, err := r.ReadSlice('\n')
		if !f.tooLong {
			if f.line = append(f.line, part...); len(f.line) > max+len("\r\n") {
				f.line, f.tooLong = nil, true
			}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		f.line = trimSpace(f.line)
		if len(f.line) > max {
			f.line, f.tooLong = nil, true
		}
		f.err = err
		return f
	}
}

// trimSpace cuts JSON's white space at both ends.
func trimSpace(line []byte) []byte {
	space := func(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }
	for len(line) > 0 && space(line[0]) {
		line = line[1:]
	}
	for len(line) > 0 && space(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	return line
}
