package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/approve/daemon"
	"github.com/capgen/capgen/runtime/host"
)

// serve is the approval daemon: it answers at --approval-daemon until it is
// told to stop.
func (s *Setup) serve(ctx context.Context, i host.Invocation) (err error) {
	f := s.flags
	if s.socket == "" || f.log == "" || len(f.signers) == 0 {
		return &host.ExitError{Code: host.ExitUsage, Err: errors.New("daemon: it needs --approval-daemon SOCKET, --log FILE and a --signer UID=FILE")}
	}
	o := daemon.Options{Servers: f.servers, Signers: map[uint32]approve.Signer{}, Now: govern.Now, Logger: i.Env.Logger}
	for uid, path := range f.signers {
		if o.Signers[uid], err = approve.OpenKey(path); err != nil {
			return err
		}
	}
	if f.heads != "" {
		o.Heads = audit.HeadFile(f.heads)
	}
	if o.Log, err = daemon.OpenLog(f.log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Log.Close()) }()
	listener, err := listen(s.socket)
	if err != nil {
		return err
	}
	fmt.Fprintln(i.Stderr, "the approval daemon is ready")
	return daemon.Serve(ctx, listener, o)
}

// listen listens at path, where a socket of a daemon that has ended may still
// be; one at which somebody answers is left alone. Who may connect is for the
// directory to say; who may do what, for the daemon.
func listen(path string) (*net.UnixListener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		if c, err := net.Dial("unix", path); err == nil {
			return nil, errors.Join(fmt.Errorf("somebody answers at %s already", path), c.Close())
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// signers are the values of a repeated flag: the file of an account's key.
type signers map[uint32]string

func (s *signers) String() string { return "" }

func (s *signers) Set(text string) error {
	number, path, ok := strings.Cut(text, "=")
	uid, err := strconv.ParseUint(number, 10, 32)
	if !ok || err != nil || path == "" {
		return errors.New("expected UID=FILE")
	}
	if *s == nil {
		*s = signers{}
	}
	if _, again := (*s)[uint32(uid)]; again {
		return fmt.Errorf("account %d has a key already", uid)
	}
	(*s)[uint32(uid)] = path
	return nil
}

// numbers are the values of a repeated flag.
type numbers []uint32

func (n *numbers) String() string { return "" }

func (n *numbers) Set(text string) error {
	v, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return errors.New("expected the number of an account")
	}
	*n = append(*n, uint32(v))
	return nil
}
