package fine

import (
	"errors"
	"net/http"
	"os"
	"regexp"
	"sync"

	"example.com/dep"
)

// Values, and functions that nobody calls here.
var (
	ErrX    = errors.New("x")
	pattern = regexp.MustCompile("x")
	table   = map[string]func() string{"a": func() string { return os.Getenv("A") }}
	once    = sync.OnceValue(func() string { return os.Getenv("B") })
	get     = http.Get
	later   = dep.Lazily()
	keep    = dep.Keep
	method  = (&loader{}).load
	stderr  = os.Stderr
	name    = os.Stdout.Name()
)

type loader struct{ f *os.File }

func (l *loader) load() (err error) {
	l.f, err = os.Open("x")
	return err
}

func Load() string { return os.Getenv("C") }

const debug = false

func init() {
	if debug {
		println(os.Getenv("D"))
	}
}
