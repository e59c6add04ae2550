// Package form reads and writes the values that the documents of governed
// changes are made of: hashes, accounts, instants, objects of known members. It
// must never know what a document says.
package form

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/token"
)

// maxBoot bounds the id of a boot, in bytes.
const maxBoot = 64

// Object reads an object: member reads the value of each key, of which r tells
// when it does not know it. Members that stand twice, or not at all, are found
// by whoever compares the document with its one spelling.
func Object(r *canon.Reader, member func(key string)) {
	r.BeginObject()
	for r.NextMember() {
		member(string(r.Key()))
	}
}

// AppendHex appends bytes as a string of lower-case hexadecimal digits.
func AppendHex(b, v []byte) []byte {
	b = append(b, '"')
	b = hex.AppendEncode(b, v)
	return append(b, '"')
}

// Hex reads the hexadecimal digits of exactly len(dst) bytes into dst.
func Hex(r *canon.Reader, dst []byte) {
	n := hex.EncodedLen(len(dst))
	s := r.String(n, n)
	if r.Err() != nil {
		return
	}
	// As many characters need not be as many bytes.
	if len(s) != n {
		r.Fail(canon.CodePattern, "expected hexadecimal digits")
	} else if _, err := hex.Decode(dst, []byte(s)); err != nil {
		r.Fail(canon.CodePattern, "expected hexadecimal digits")
	}
}

// UID reads the number of an account.
func UID(r *canon.Reader) uint32 { return uint32(r.Int(0, math.MaxUint32-1)) }

// Micros reads a length of time of 1 microsecond to max.
func Micros(r *canon.Reader, max time.Duration) time.Duration {
	return time.Duration(r.Int(1, max.Microseconds())) * time.Microsecond
}

// ValidInstant tells whether i can be written: in whole microseconds, after
// 1970.
func ValidInstant(i token.Instant) bool {
	wall := i.Wall.UnixMicro()
	return wall > 0 && wall <= canon.MaxInteger && i.Wall.Equal(time.UnixMicro(wall)) &&
		i.Up >= 0 && i.Up.Microseconds() <= canon.MaxInteger && i.Up%time.Microsecond == 0 && (i.Boot != "" || i.Up == 0) &&
		len(i.Boot) <= maxBoot && utf8.ValidString(i.Boot)
}

// AppendInstant appends an instant: the boot and its microseconds, and those of
// the wall clock since 1970.
func AppendInstant(b []byte, i token.Instant) []byte {
	b = append(b, `{"boot":`...)
	b = canon.AppendString(b, i.Boot)
	b = append(b, `,"up_us":`...)
	b = strconv.AppendInt(b, i.Up.Microseconds(), 10)
	b = append(b, `,"wall_us":`...)
	b = strconv.AppendInt(b, i.Wall.UnixMicro(), 10)
	return append(b, '}')
}

// Instant reads what AppendInstant wrote.
func Instant(r *canon.Reader) (i token.Instant) {
	Object(r, func(key string) {
		switch key {
		case "boot":
			i.Boot = r.String(0, maxBoot)
		case "up_us":
			i.Up = time.Duration(r.Int(0, canon.MaxInteger)) * time.Microsecond
		case "wall_us":
			i.Wall = time.UnixMicro(r.Int(1, canon.MaxInteger)).UTC()
		default:
			r.UnknownMember()
		}
	})
	return i
}
