package exposition

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ContentType is what a Set writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// WriteTo writes all metrics in the order in which they were added, and the
// series of each sorted by their labels. The lines of one metric are of one
// moment.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	s.mu.Lock()
	families := slices.Clone(s.families)
	s.mu.Unlock()
	var b bytes.Buffer
	for _, f := range families {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		if f.gauge != nil {
			line(&b, f.name, "", number(f.gauge()))
		}
		f.write(&b)
	}
	return b.WriteTo(w)
}

func (f *family) write(b *bytes.Buffer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, labels := range slices.Sorted(maps.Keys(f.series)) {
		s := f.series[labels]
		count := strconv.FormatUint(s.count, 10)
		if f.kind == "counter" {
			line(b, f.name, labels, count)
			continue
		}
		within := labels
		if within != "" {
			within += ","
		}
		below := uint64(0) // each bucket holds those before it
		for i, bound := range f.bounds {
			below += s.buckets[i]
			line(b, f.name+"_bucket", within+`le="`+number(bound)+`"`, strconv.FormatUint(below, 10))
		}
		line(b, f.name+"_bucket", within+`le="+Inf"`, count)
		line(b, f.name+"_sum", labels, number(s.sum))
		line(b, f.name+"_count", labels, count)
	}
}

func line(b *bytes.Buffer, name, labels, value string) {
	b.WriteString(name)
	if labels != "" {
		b.WriteString("{" + labels + "}")
	}
	b.WriteString(" " + value + "\n")
}

// number writes a float as the format has it.
func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64) // NaN is NaN
}

// escaped is the value of a label between its quotes.
func escaped(value string) string {
	if !strings.ContainsAny(value, "\\\"\n") {
		return strings.ToValidUTF8(value, "\ufffd")
	}
	value = strings.ReplaceAll(value, `\`, `\\`)
	value = strings.ReplaceAll(value, "\n", `\n`)
	return strings.ToValidUTF8(strings.ReplaceAll(value, `"`, `\"`), "\ufffd")
}
