package ptytest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNoTerminals is the error where the system has no pseudo-terminals.
var ErrNoTerminals = errors.New("ptytest: no pseudo-terminals here")

// patience is for how long a question is waited for.
const patience = time.Minute

// Terminal is a process and the other end of its terminal.
type Terminal struct {
	cmd    *exec.Cmd
	master *os.File
	out    *bufio.Reader
}

// Start starts cmd as the leader of a session whose terminal is a new one. What
// cmd has no standard stream for goes there, too.
func Start(cmd *exec.Cmd) (*Terminal, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoTerminals, err)
	}
	tty, err := other(master)
	if err != nil {
		return nil, errors.Join(err, master.Close())
	}
	defer tty.Close()
	cmd.Stdin = tty
	if cmd.Stdout == nil {
		cmd.Stdout = tty
	}
	if cmd.Stderr == nil {
		cmd.Stderr = tty
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = true, true, 0
	if cred := cmd.SysProcAttr.Credential; cred != nil { // it opens /dev/tty as that account
		if err := tty.Chown(int(cred.Uid), int(cred.Gid)); err != nil {
			return nil, errors.Join(err, master.Close())
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, master.Close())
	}
	if err := master.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait(), master.Close())
	}
	return &Terminal{cmd, master, bufio.NewReader(master)}, nil
}

// other is the process's end of the terminal.
func other(master *os.File) (*os.File, error) {
	raw, err := master.SyscallConn()
	if err != nil {
		return nil, err
	}
	var number int
	if e := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}); e != nil || err != nil {
		return nil, errors.Join(e, err)
	}
	return os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
}

var question = regexp.MustCompile(`type: ((?:[a-z]{5} ){3}[a-z]{5})\r?\n> $`)

// Question is what the process wrote until it asked for words, and the words.
func (t *Terminal) Question() (shown, words string, err error) {
	var all strings.Builder
	for {
		text, err := t.out.ReadString('>')
		all.WriteString(text)
		if err != nil {
			return all.String(), "", err
		}
		space, err := t.out.ReadByte()
		if err != nil {
			return all.String(), "", err
		}
		all.WriteByte(space)
		if m := question.FindStringSubmatch(all.String()); m != nil {
			return strings.ReplaceAll(all.String(), "\r\n", "\n"), m[1], nil
		}
	}
}

// Answer types text.
func (t *Terminal) Answer(text string) error {
	_, err := t.master.WriteString(text)
	return err
}

// Wait waits until the process ends, and returns what else it wrote on the
// terminal and its error, as exec.Cmd.Wait does.
func (t *Terminal) Wait() (rest string, err error) {
	b, read := io.ReadAll(t.out)
	if read != nil && !errors.Is(read, syscall.EIO) { // EIO is the end of a terminal
		err = errors.Join(read, t.cmd.Process.Kill())
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n"), errors.Join(err, t.cmd.Wait(), t.master.Close())
}
