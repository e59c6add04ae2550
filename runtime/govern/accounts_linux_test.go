package govern

import (
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// TestAccountInUse: an account that a process has goes to no candidate, even if no
// job that is known has it, as after the restore of an older copy of the database.
func TestAccountInUse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts processes of other accounts")
	}
	const first = 1_900_073_100
	s, _ := newRunScene(t, scenery{})
	s.o.JobUIDs = UIDs{first, 4}
	stranger := func(c syscall.Credential) (end func()) {
		cmd := exec.Command("/bin/sleep", "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &c, Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Skipf("this root cannot be other accounts: %v", err)
		}
		end = sync.OnceFunc(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
		t.Cleanup(end)
		return end
	}
	end := stranger(syscall.Credential{Uid: first, Gid: first})
	// A candidate's group has the number of its account: these have it too.
	stranger(syscall.Credential{Uid: first - 1, Gid: first + 1})
	stranger(syscall.Credential{Uid: first - 1, Gid: first - 1, Groups: []uint32{first + 2}})
	s.o.MaxJobs = 9
	p := s.approvedRun(t, "alice", "k1")
	s.startRun(t, "alice", p)
	if uid := s.kept(t, p.Plan).UID; uid != first+3 {
		t.Errorf("account %d", uid)
	}
	end()
	p = s.approvedRun(t, "bob", "k2")
	s.startRun(t, "bob", p)
	if uid := s.kept(t, p.Plan).UID; uid != first {
		t.Errorf("account %d", uid)
	}
}

// What tells the accounts and groups of a process are three lines, whatever the
// process is called.
func TestIDsOf(t *testing.T) {
	for text, want := range map[string][]int64{
		"Name:\tx\\nUid:\t7 7 7 7\nUmask:\t0022\nUid:\t1000\t0\t1001\t1002\nGid:\t5\t6\t5\t5\nGroups:\t4 104 \n": {1000, 0, 1001, 1002, 5, 6, 5, 5, 4, 104},
		"Uid:\t4294967294\t4294967294\t4294967294\t4294967294\nGid:\t1\t1\t1\t1\nGroups:\t \n":                   {4294967294, 4294967294, 4294967294, 4294967294, 1, 1, 1, 1},
	} {
		if got, err := idsOf([]byte(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	const uid, gid, groups = "Uid:\t1\t1\t1\t1\n", "Gid:\t1\t1\t1\t1\n", "Groups:\t\n"
	for _, text := range []string{
		"", "Name:\tx\n", gid + groups, uid + groups, uid + gid, "Uid:\t1\t2\t3\n" + gid + groups, "Uid:\ta\tb\tc\td\n" + gid + groups,
		uid + "Gid:\t1\n" + groups, uid + gid + "Groups:\tx\n",
	} {
		if got, err := idsOf([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
