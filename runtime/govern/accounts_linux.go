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

// occupied are the accounts that any process has, in any of its four user ids, as
// far as this one can see processes.
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
		ids, err := userIDs(text)
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

// userIDs are those of a process: the real, the effective, the saved, and that of
// the file system. What a process calls itself has no line of its own there.
func userIDs(status []byte) (ids [4]int64, err error) {
	for line := range bytes.Lines(status) {
		rest, ok := bytes.CutPrefix(line, []byte("Uid:"))
		if !ok {
			continue
		}
		fields := bytes.Fields(rest)
		if len(fields) != len(ids) {
			break
		}
		for i, f := range fields {
			if ids[i], err = strconv.ParseInt(string(f), 10, 64); err != nil {
				return ids, err
			}
		}
		return ids, nil
	}
	return ids, errors.New("it does not tell the account")
}
