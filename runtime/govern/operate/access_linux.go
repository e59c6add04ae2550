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

// person is an account with its groups.
type person struct {
	uid, gid uint32
	groups   []uint32
	named    bool // without a name, its groups are not known
}

// accountOf is the account with a number. One without a name is taken to have the
// group of the same number, and perhaps any other.
func accountOf(uid int) (person, error) {
	p := person{uid: uint32(uid), gid: uint32(uid)}
	u, err := user.LookupId(strconv.Itoa(uid))
	if errors.As(err, new(user.UnknownUserIdError)) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	ids, err := u.GroupIds()
	if err != nil {
		return p, err
	}
	for _, id := range append([]string{u.Gid}, ids...) {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return p, err
		}
		p.groups = append(p.groups, uint32(n))
	}
	p.gid, p.named = p.groups[0], true
	return p, nil
}

// canWrite says why the account can write a path, by what its mode says, if it
// can. That a directory above keeps it out does not count: modes of directories
// change.
func (w person) canWrite(path string) (a access, can bool, err error) {
	l, err := look(path)
	if err != nil {
		return a, false, err
	}
	reason := ""
	switch {
	case w.uid == 0:
		reason = "it is root"
	case l.uid == w.uid:
		reason = "it owns it"
	case l.mode&0o020 != 0 && l.mode&fs.ModeSticky == 0 && !w.named:
		reason = fmt.Sprintf("its group %d can, and the account's groups are not known", l.gid)
	case l.mode&0o020 != 0 && l.mode&fs.ModeSticky == 0 && slices.Contains(w.groups, l.gid):
		reason = fmt.Sprintf("its group %d can", l.gid)
	case l.mode&0o002 != 0 && l.mode&fs.ModeSticky == 0:
		reason = "everybody can"
	case l.list:
		reason = "an access list may let it"
	}
	return access{path, reason}, reason != "", nil
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
func probe(ctx context.Context, who person, paths []string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append([]string{"writable", "--"}, paths...)...)
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: who.uid, Gid: who.gid, Groups: who.groups}}
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
