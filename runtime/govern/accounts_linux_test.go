package govern

import (
	"os"
	"os/exec"
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
	s.o.JobUIDs = UIDs{first, 3}
	stranger := exec.Command("/bin/sleep", "1000")
	stranger.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: first, Gid: first}, Pdeathsig: syscall.SIGKILL}
	if err := stranger.Start(); err != nil {
		t.Skipf("this root cannot be other accounts: %v", err)
	}
	end := func() {
		stranger.Process.Kill()
		stranger.Wait()
	}
	t.Cleanup(end)
	s.o.MaxJobs = 9
	p := s.approvedRun(t, "alice", "k1")
	s.startRun(t, "alice", p)
	if uid := s.kept(t, p.Plan).UID; uid != first+1 {
		t.Errorf("account %d", uid)
	}
	end()
	p = s.approvedRun(t, "bob", "k2")
	s.startRun(t, "bob", p)
	if uid := s.kept(t, p.Plan).UID; uid != first {
		t.Errorf("account %d", uid)
	}
}

// What tells the accounts of a process is one line, whatever the process is
// called.
func TestUserIDs(t *testing.T) {
	for text, want := range map[string][4]int64{
		"Name:\tx\\nUid:\t7 7 7 7\nUmask:\t0022\nUid:\t1000\t0\t1001\t1002\nGid:\t5\t5\t5\t5\n": {1000, 0, 1001, 1002},
		"Uid:\t4294967294\t4294967294\t4294967294\t4294967294\n":                                {4294967294, 4294967294, 4294967294, 4294967294},
	} {
		if got, err := userIDs([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "Name:\tx\n", "Uid:\t1\t2\t3\n", "Uid:\ta\tb\tc\td\n"} {
		if got, err := userIDs([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
