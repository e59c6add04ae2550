package worker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/capgen/capgen/runtime/program"
)

// A frame is a 4-byte big-endian length and that many bytes of payload. The
// length is never zero.

const (
	headerBytes = 4
	// slackBytes is what a frame may hold beside the one value it carries: a
	// fault is the largest, and there may be prints.
	slackBytes = 64<<10 + program.MaxPrintBytes
	// maxTableBytes bounds the frame that brings the binding table.
	maxTableBytes = 64 << 20
	// maxValueBytes bounds Limits.ValueBytes and SourceBytes, so that every
	// length fits a frame.
	maxValueBytes = 1 << 30
)

var (
	errEmptyFrame = errors.New("an empty frame")
	errPartial    = errors.New("the stream ended inside a frame")

	errFrameTooBig = errors.New("a frame that is too large")
	errStopped     = errors.New("stopped")
)

// frameReader cuts a stream into frames. It never holds more than one frame
// and one read's worth of bytes.
type frameReader struct {
	source     io.Reader
	max        int // payload bytes of the next frame
	buf        []byte
	start, end int // unread part of buf
}

// reset makes r a reader of another stream. What was read is dropped.
func (r *frameReader) reset(source io.Reader, max int) {
	r.source, r.max, r.start, r.end = source, max, 0, 0
}

const readSize = 16 << 10

func newFrameReader(source io.Reader, max int) *frameReader {
	return &frameReader{source: source, max: max, buf: make([]byte, readSize)}
}

// next returns the payload of the next frame, valid until the next call. At
// the end of the stream it returns io.EOF, inside a frame errPartial.
func (r *frameReader) next() ([]byte, error) {
	if err := r.fill(headerBytes); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(r.buf[r.start:]))
	if n == 0 {
		return nil, errEmptyFrame
	}
	if n > int64(r.max) {
		return nil, fmt.Errorf("%w: %d bytes", errFrameTooBig, n)
	}
	if err := r.fill(headerBytes + int(n)); err != nil {
		if err == io.EOF {
			err = errPartial
		}
		return nil, err
	}
	payload := r.buf[r.start+headerBytes : r.start+headerBytes+int(n)]
	r.start += headerBytes + int(n)
	return payload, nil
}

// fill reads until n bytes are there.
func (r *frameReader) fill(n int) error {
	if r.start == r.end {
		r.start, r.end = 0, 0
	}
	if r.start+n > len(r.buf) {
		r.makeRoom(n)
	}
	for r.end-r.start < n {
		m, err := r.source.Read(r.buf[r.end:])
		r.end += m
		if err != nil && r.end-r.start < n {
			if err == io.EOF && r.end > r.start {
				return errPartial
			}
			return err
		}
	}
	return nil
}

func (r *frameReader) makeRoom(n int) {
	to := r.buf
	if n > len(to) {
		to = make([]byte, n)
	}
	r.end = copy(to, r.buf[r.start:r.end])
	r.start, r.buf = 0, to
}

// unread returns what was read beyond the last frame.
func (r *frameReader) unread() []byte { return r.buf[r.start:r.end] }

// appendFrame appends to dst a frame whose payload append appends.
func appendFrame(dst []byte, payload func([]byte) ([]byte, error)) ([]byte, error) {
	at := len(dst)
	out, err := payload(append(dst, 0, 0, 0, 0))
	if err != nil {
		return dst, err
	}
	n := len(out) - at - headerBytes
	if n <= 0 || n > maxValueBytes+slackBytes {
		return dst, fmt.Errorf("worker: frame of %d bytes", n)
	}
	binary.BigEndian.PutUint32(out[at:], uint32(n))
	return out, nil
}
