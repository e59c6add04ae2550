package canon

import (
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// errForm is the error of every accessor for a string that has not its form.
// What a decoder has read always has it.
var errForm = errors.New("canon: the string does not have its format")

// DateTime is a moment in the form it came in: 2026-11-29T18:00:00.5Z. Two
// texts of one moment are different values; compare what Time returns.
type DateTime string

// NewDateTime is t in RFC 3339 form, to the nanosecond.
func NewDateTime(t time.Time) DateTime { return DateTime(t.Format(time.RFC3339Nano)) }

// Time is the moment, with the offset as its location. A leap second is the
// first moment of the next minute, and digits beyond nanoseconds are dropped.
func (v DateTime) Time() (time.Time, error) {
	const date = len("2006-01-02")
	s := string(v)
	if len(s) <= date || s[date] != 'T' && s[date] != 't' {
		return time.Time{}, errForm
	}
	day, err := Date(s[:date]).Time()
	if err != nil {
		return time.Time{}, err
	}
	c, err := Time(s[date+1:]).Clock()
	if err != nil {
		return time.Time{}, err
	}
	zone := time.UTC
	if c.Offset != 0 {
		zone = time.FixedZone("", c.Offset)
	}
	return time.Date(day.Year(), day.Month(), day.Day(), c.Hour, c.Minute, c.Second, c.Nanosecond, zone), nil
}

// Date is a day: 2026-11-29.
type Date string

// NewDate is the day of t in its location.
func NewDate(t time.Time) Date { return Date(t.Format(time.DateOnly)) }

// Time is the day's first moment in UTC.
func (v Date) Time() (time.Time, error) {
	t, err := time.Parse(time.DateOnly, string(v))
	if err != nil {
		return time.Time{}, errForm
	}
	return t, nil
}

// Time is a time of day with its offset: 18:00:00.5+01:00.
type Time string

// Clock is what a Time says. Second is 60 in a leap second, Offset is in
// seconds east of UTC.
type Clock struct{ Hour, Minute, Second, Nanosecond, Offset int }

// Clock takes the text apart. Digits beyond nanoseconds are dropped.
func (v Time) Clock() (Clock, error) {
	s := string(v)
	var c Clock
	ok := len(s) >= len("00:00:00Z") && s[2] == ':' && s[5] == ':' &&
		twoDigits(s[0:2], 23, &c.Hour) && twoDigits(s[3:5], 59, &c.Minute) && twoDigits(s[6:8], 60, &c.Second)
	if !ok {
		return Clock{}, errForm
	}
	s = s[8:]
	if s[0] == '.' {
		n := 1
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		if n == 1 {
			return Clock{}, errForm
		}
		c.Nanosecond, _ = strconv.Atoi((s[1:n] + "00000000")[:9])
		s = s[n:]
	}
	if s != "Z" && s != "z" {
		var hours, minutes int
		if len(s) != len("+00:00") || s[0] != '+' && s[0] != '-' || s[3] != ':' || !twoDigits(s[1:3], 23, &hours) || !twoDigits(s[4:6], 59, &minutes) {
			return Clock{}, errForm
		}
		c.Offset = hours*3600 + minutes*60
		if s[0] == '-' {
			c.Offset = -c.Offset
		}
	}
	// A leap second is the last one of a day in UTC.
	const day = 24 * 60
	if c.Second == 60 && (c.Hour*60+c.Minute-c.Offset/60+day)%day != day-1 {
		return Clock{}, errForm
	}
	return c, nil
}

func twoDigits(s string, most int, to *int) bool {
	if s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return false
	}
	*to = int(s[0]-'0')*10 + int(s[1]-'0')
	return *to <= most
}

// Duration is a length of time by the calendar: P1Y2M3DT4H5M6S or P7W.
type Duration string

// Parts is what a Duration says. How long a year or a month is depends on when
// it begins.
type Parts struct{ Years, Months, Weeks, Days, Hours, Minutes, Seconds int64 }

// Parts takes the text apart. A number beyond 64 bits is refused.
func (v Duration) Parts() (Parts, error) {
	s, ok := strings.CutPrefix(string(v), "P")
	var p Parts
	if !ok || s == "" {
		return Parts{}, errForm
	}
	if strings.HasSuffix(s, "W") {
		return p, parts(&p, s, "W", []*int64{&p.Weeks})
	}
	date, clock, timed := strings.Cut(s, "T")
	if timed && clock == "" {
		return Parts{}, errForm
	}
	if err := parts(&p, date, "YMD", []*int64{&p.Years, &p.Months, &p.Days}); err != nil {
		return Parts{}, err
	}
	if err := parts(&p, clock, "HMS", []*int64{&p.Hours, &p.Minutes, &p.Seconds}); err != nil {
		return Parts{}, err
	}
	return p, nil
}

// parts reads numbers with units, each at most once, in order and without a gap:
// a duration of hours and seconds says how many minutes too.
func parts(p *Parts, s, units string, to []*int64) error {
	for first := true; s != ""; first = false {
		n := 0
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		if n == 0 || n == len(s) {
			*p = Parts{}
			return errForm
		}
		i := strings.IndexByte(units, s[n])
		v, err := strconv.ParseInt(s[:n], 10, 64)
		if i < 0 || i > 0 && !first || err != nil {
			*p = Parts{}
			return errForm
		}
		*to[i] = v
		units, to, s = units[i+1:], to[i+1:], s[n+1:]
	}
	return nil
}

// Exact is the duration in nanoseconds. It refuses years and months, which
// have no fixed length, and what time.Duration cannot hold. A day is 24 hours.
func (v Duration) Exact() (time.Duration, error) {
	p, err := v.Parts()
	if err != nil {
		return 0, err
	}
	if p.Years != 0 || p.Months != 0 {
		return 0, errors.New("canon: a duration of years or months has no fixed length")
	}
	var sum int64
	for _, x := range []struct {
		n    int64
		unit time.Duration
	}{{p.Weeks, 7 * 24 * time.Hour}, {p.Days, 24 * time.Hour}, {p.Hours, time.Hour}, {p.Minutes, time.Minute}, {p.Seconds, time.Second}} {
		if x.n > (math.MaxInt64-sum)/int64(x.unit) {
			return 0, errors.New("canon: the duration is too long for time.Duration")
		}
		sum += x.n * int64(x.unit)
	}
	return time.Duration(sum), nil
}

// UUID is 8-4-4-4-12 hexadecimal digits in the case they came in.
type UUID string

// NewUUID is b in lower case.
func NewUUID(b [16]byte) UUID {
	h := hex.EncodeToString(b[:])
	return UUID(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

// Bytes are the 16 bytes: compare those, since the case of the text may differ.
func (v UUID) Bytes() (b [16]byte, err error) {
	s := string(v)
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return b, errForm
	}
	if _, err := hex.Decode(b[:], []byte(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:])); err != nil {
		return [16]byte{}, errForm
	}
	return b, nil
}
