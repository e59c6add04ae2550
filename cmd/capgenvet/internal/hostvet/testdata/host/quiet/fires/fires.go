package fires

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"syscall"

	"example.com/dep"
)

var secret = os.Getenv("SECRET") // want `os.Getenv .* while the package is initialized`

var text, err = read()

func read() ([]byte, error) {
	return os.ReadFile("x") // want `os.ReadFile .* while the package is initialized`
}

var _ = func() int {
	go read() // want `a goroutine .* while the package is initialized`
	return 0
}()

var answer, _ = http.Get("http://localhost/") // want `http.Get`

var size, _ = fmt.Println("x") // want `fmt.Println`

var out = os.Stdout // want `os.Stdout`

var fd, _ = syscall.Open("x", syscall.O_RDONLY, 0) // want `syscall.Open`

var kept = dep.Keep("x") // want `os.WriteFile \(dep.go:\d+, by way of dep.Keep\)`

func init() {
	f := func() { exec.Command("true") } // want `exec.Command`
	f()
}

func init() {
	defer os.Remove("x") // want `os.Remove`
	for range each {
		os.Create("x") // want `os.Create`
	}
}

func each(yield func() bool) {}

type t struct{}

func (t) load() int { os.Open("x"); return 0 } // want `os.Open`

var loaded = t{}.load()
