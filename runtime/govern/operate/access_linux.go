package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// looked is what mode bits and access list say of who can write a path.
type looked struct {
	uid, gid uint32
	mode     fs.FileMode
	list     bool // it has an access list besides, which is not read
}

func look(path string) (looked, error) {
	info, err := os.Stat(path)
	if err != nil {
		return looked{}, err
	}
	st := info.Sys().(*syscall.Stat_t)
	_, err = unix.Getxattr(path, "system.posix_acl_access", nil)
	return looked{uid: st.Uid, gid: st.Gid, mode: info.Mode(), list: err == nil}, nil
}

// String says who can write, root aside.
func (l looked) String() string {
	words := []string{fmt.Sprintf("account %d", l.uid)} // it can change the mode
	if l.mode&0o020 != 0 {
		words = append(words, fmt.Sprintf("group %d", l.gid))
	}
	if l.mode&0o002 != 0 && l.mode&fs.ModeSticky == 0 {
		words = append(words, "everybody")
	} else if l.mode&0o002 != 0 {
		words = append(words, "everybody, who can add names only")
	}
	if l.list {
		words = append(words, "those of an access list")
	}
	return strings.Join(words, ", ")
}

func ownerOf(path string) (uint32, error) {
	l, err := look(path)
	return l.uid, err
}

// writableBy are those of the paths that an account can write, by what their
// modes say.
func writableBy(paths []string, uid int) ([]access, error) {
	groups := map[uint32]bool{}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		ids, err := u.GroupIds()
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			n, err := strconv.ParseUint(id, 10, 32)
			if err != nil {
				return nil, err
			}
			groups[uint32(n)] = true
		}
	}
	var open []access
	for _, p := range paths {
		l, err := look(p)
		if err != nil {
			return nil, err
		}
		switch {
		case uid == 0:
			open = append(open, access{p, "it is root"})
		case l.uid == uint32(uid):
			open = append(open, access{p, "it owns it"})
		case l.mode&0o020 != 0 && groups[l.gid]:
			open = append(open, access{p, fmt.Sprintf("its group %d can", l.gid)})
		case l.mode&0o002 != 0 && l.mode&fs.ModeSticky == 0:
			open = append(open, access{p, "everybody can"})
		case l.list:
			open = append(open, access{p, "an access list may let it"})
		}
	}
	return open, nil
}

// canWrite tries what the kernel says of this process's account. A directory of
// others in which only names can be added does not count.
func canWrite(path string) bool {
	if unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) != nil {
		return false
	}
	l, err := look(path)
	return err != nil || l.mode&fs.ModeSticky == 0 || l.uid == uint32(os.Geteuid())
}

// probe runs this program as the account and asks it which paths it can write.
func probe(ctx context.Context, uid int, paths []string) ([]string, error) {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	var groups []uint32
	for _, id := range ids {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, err
		}
		groups = append(groups, uint32(n))
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append([]string{"writable", "--"}, paths...)...)
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: groups}}
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	found := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if found[0] == "" {
		found = nil
	}
	for _, p := range found {
		if !slices.Contains(paths, p) {
			return nil, errors.New("the program answered something else")
		}
	}
	return found, nil
}
