package review

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/internal/ptytest"
)

// asHelper makes the test binary the process that asks, with a terminal of its
// own.
const asHelper = "CAPGEN_TEST_CONFIRM"

func TestMain(m *testing.M) {
	if os.Getenv(asHelper) != "" {
		os.Exit(ask(os.Getenv(asHelper)))
	}
	os.Exit(m.Run())
}

// ask is what a command line does with the answer.
func ask(how string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if how == "soon" || how == "narrow" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
	}
	if how == "narrow" {
		if err := unix.IoctlSetWinsize(0, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 40}); err != nil {
			fmt.Println(err)
			return 4
		}
	}
	t, err := OpenTerminal()
	if err != nil {
		fmt.Println(err)
		return 3
	}
	defer t.Close()
	for range strings.Count(how, "x") + 1 {
		if err = t.Confirm(ctx, "approve plan_\x1b[2J"); err != nil {
			break
		}
	}
	fmt.Println("result:", err)
	if errors.Is(err, ErrNotConfirmed) {
		return 2
	}
	if err != nil {
		return 1
	}
	return 0
}

// session is a helper at the other end of its terminal.
type session struct {
	t        *testing.T
	cmd      *exec.Cmd
	terminal *ptytest.Terminal
	stdout   strings.Builder
}

func start(t *testing.T, how string) *session {
	t.Helper()
	s := &session{t: t, cmd: exec.Command(os.Args[0])}
	s.cmd.Env = append(os.Environ(), asHelper+"="+how)
	s.cmd.Stdout = &s.stdout // what it asks goes to the terminal all the same
	var err error
	s.terminal, err = ptytest.Start(s.cmd)
	if errors.Is(err, ptytest.ErrNoTerminals) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	return s
}

// asked is the words of the next question.
func (s *session) asked() string {
	s.t.Helper()
	shown, words, err := s.terminal.Question()
	if err != nil {
		s.t.Fatalf("%q, %v", shown, err)
	}
	if strings.Contains(shown, "\x1b") {
		s.t.Errorf("%q is not escaped", shown)
	}
	return words
}

func (s *session) answer(text string) {
	s.t.Helper()
	if err := s.terminal.Answer(text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) exits(want int, with string) {
	s.t.Helper()
	s.terminal.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != want || !strings.Contains(s.stdout.String(), with) {
		s.t.Errorf("exit code %d, %q; want %d, %q", got, s.stdout.String(), want, with)
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	s := start(t, "x")
	first := s.asked()
	s.answer(first + "\n")
	second := s.asked() // other words: the first ones were good once
	if first == second {
		t.Fatalf("%q is asked for twice", first)
	}
	s.answer(second + "\n")
	s.exits(0, "result: <nil>")
}

func TestConfirmRefuses(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(words string) string{
		"nothing": func(string) string { return "\n" },
		"yes":     func(string) string { return "yes\n" },
		"other order": func(w string) string {
			words := strings.Fields(w)
			slices.Reverse(words)
			return strings.Join(words, " ") + "\n"
		},
		"upper case":   func(w string) string { return strings.ToUpper(w) + "\n" },
		"space behind": func(w string) string { return w + " \n" },
		"space before": func(w string) string { return " " + w + "\n" },
		"a part":       func(w string) string { return w[:len(w)-1] + "\n" },
		"more":         func(w string) string { return w + "s\n" },
		"long":         func(w string) string { return strings.Repeat(w+" ", 20) + "\n" },
		"end of file":  func(string) string { return "\x04" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "once")
			s.answer(answer(s.asked()))
			want := "not the words"
			switch name {
			case "long":
				want = "more than 256 bytes"
			case "end of file":
				want = "EOF"
			}
			s.exits(2, want)
		})
	}
	t.Run("words of before", func(t *testing.T) {
		t.Parallel()
		s := start(t, "x")
		first := s.asked()
		s.answer(first + "\n")
		s.asked()
		s.answer(first + "\n")
		s.exits(2, "not the words")
	})
}

func TestConfirmEnds(t *testing.T) {
	t.Parallel()
	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		s := start(t, "once")
		s.asked()
		s.answer("\x03") // the terminal makes a signal of it
		s.exits(2, "review: not confirmed")
	})
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		s := start(t, "soon")
		s.exits(2, "deadline exceeded")
	})
}

// Without a terminal there is no approval, whatever standard input holds.
func TestNoTerminal(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asHelper+"=once")
	cmd.Stdin = strings.NewReader("yes\n")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, _ := cmd.Output()
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), "there is none") {
		t.Errorf("exit code %d, %s", cmd.ProcessState.ExitCode(), out)
	}
}

var fourWords = regexp.MustCompile(`^([a-z]{5} ){3}[a-z]{5}$`)

func TestWordsAreDrawn(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		words, err := draw()
		if err != nil || !fourWords.MatchString(words) {
			t.Fatalf("%q, %v", words, err)
		}
		for _, w := range strings.Fields(words) {
			seen[w] = true
		}
	}
	// Of 800 words out of 10,560 about 771 are different ones.
	if len(seen) < 700 {
		t.Errorf("of 800 words only %d are different", len(seen))
	}
}

// TestNarrowTerminal: one that would break lines is not asked at.
func TestNarrowTerminal(t *testing.T) {
	s := start(t, "narrow")
	_, err := s.terminal.Wait()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(s.stdout.String(), "has 40 columns") {
		t.Errorf("%v: %s", err, &s.stdout)
	}
}
