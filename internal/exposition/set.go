package exposition

import (
	"slices"
	"strings"
	"sync"
)

// Set is a number of metrics. The zero value has none. It is safe for
// concurrent use, and holds a series for each combination of labels that it was
// given: whoever gives them bounds how many there are.
type Set struct {
	mu       sync.Mutex
	families []*family
}

// family are the series of one name.
type family struct {
	name, help, kind string
	labels           []string
	bounds           []float64      // of a histogram, rising
	gauge            func() float64 // of a gauge

	mu     sync.Mutex
	series map[string]*series // by their labels, as they are written
}

// series is a counter or a histogram; a gauge is asked.
type series struct {
	count   uint64
	sum     float64
	buckets []uint64 // how many fell into each, and no other
}

// add panics when a name is there already, which is a mistake of the code.
func (s *Set) add(f *family) *family {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.families, func(other *family) bool { return other.name == f.name }) {
		panic("exposition: " + f.name + " was added before")
	}
	f.series = map[string]*series{}
	s.families = append(s.families, f)
	return f
}

// Gauge adds one number, which value tells whenever the set is written.
func (s *Set) Gauge(name, help string, value func() float64) {
	s.add(&family{name: name, help: help, kind: "gauge", gauge: value})
}

// Counters count events by labels.
type Counters struct{ family *family }

// Counters adds counters, one for each combination of labels.
func (s *Set) Counters(name, help string, labels ...string) Counters {
	return Counters{s.add(&family{name: name, help: help, kind: "counter", labels: labels})}
}

// Inc counts one event; values are those of the labels, in their order.
func (c Counters) Inc(values ...string) {
	c.family.with(values, func(s *series) { s.count++ })
}

// Histograms measure by labels.
type Histograms struct{ family *family }

// Histograms adds histograms, one for each combination of labels, with a bucket
// for what is at most each of bounds, which rise.
func (s *Set) Histograms(name, help string, bounds []float64, labels ...string) Histograms {
	return Histograms{s.add(&family{name: name, help: help, kind: "histogram", labels: labels, bounds: bounds})}
}

// Observe counts one measurement.
func (h Histograms) Observe(measured float64, values ...string) {
	h.family.with(values, func(s *series) {
		if s.buckets == nil {
			s.buckets = make([]uint64, len(h.family.bounds))
		}
		s.count++
		s.sum += measured
		if i, _ := slices.BinarySearch(h.family.bounds, measured); i < len(s.buckets) {
			s.buckets[i]++
		}
	})
}

func (f *family) with(values []string, do func(*series)) {
	var b strings.Builder
	for i, label := range f.labels {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(label + `="` + escaped(values[i]) + `"`)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.series[b.String()]
	if s == nil {
		s = new(series)
		f.series[b.String()] = s
	}
	do(s)
}
