package govern

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// occupied are the accounts that any process has, in any of its four user ids, and
// the groups that it is in, by their numbers, as far as this one can see processes:
// a candidate's group has the number of its account.
func occupied() (map[int64]bool, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	accounts := map[int64]bool{}
	processes := 0
	for _, name := range names {
		if _, err := strconv.ParseUint(name, 10, 31); err != nil {
			continue
		}
		// The owner of the directory is root for a process that says that it is not
		// to be dumped: this is not.
		text, err := os.ReadFile(filepath.Join("/proc", name, "status"))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // it has ended
		}
		if err != nil {
			return nil, err
		}
		ids, err := idsOf(text)
		if err != nil {
			return nil, fmt.Errorf("the status of process %s: %w", name, err)
		}
		for _, id := range ids {
			accounts[id] = true
		}
		processes++
	}
	if processes == 0 {
		return nil, errors.New("no process is to be seen")
	}
	return accounts, nil
}

// idsOf are those of a process, of its accounts and its groups: the real, the
// effective, the saved, and that of the file system, and its other groups. What a
// process calls itself has no line of its own there.
func idsOf(status []byte) (ids []int64, err error) {
	for _, of := range []struct {
		name string
		n    int // how many there are; -1: any number
	}{{"Uid:", 4}, {"Gid:", 4}, {"Groups:", -1}} {
		fields, ok := lineOf(status, of.name)
		if !ok || of.n >= 0 && len(fields) != of.n {
			return nil, fmt.Errorf("it does not tell %s as it should", of.name)
		}
		for _, f := range fields {
			id, err := strconv.ParseInt(string(f), 10, 64)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// lineOf is the first line that begins with a name, without it.
func lineOf(status []byte, name string) (fields [][]byte, ok bool) {
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return bytes.Fields(rest), true
		}
	}
	return nil, false
}
