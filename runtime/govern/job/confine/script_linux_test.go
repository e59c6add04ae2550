package confine_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// What scripts do that are after something, each line an attempt that fails or
// does not. They are told the stage as JSON in the file arguments.json.
const hostilePython = `import json, os, socket, subprocess, ctypes, shutil
s = json.load(open("arguments.json"))
d = s["Dir"]
def connect(family, to):
    with socket.socket(family) as c:
        c.connect(to)
def tcp():
    connect(socket.AF_INET, ("127.0.0.1", s["TCP4"]))
def unshare():
    if ctypes.CDLL(None, use_errno=True).unshare(0x20000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
def become_root():
    if os.getuid() != 0: os.setuid(0)
acts = {
    "token": lambda: open(d + "/state/token.key").read(),
    "other": lambda: os.listdir(d + "/state/jobs/other/box/out"),
    "write": lambda: open(d + "/free/python", "w"),
    "shell": lambda: subprocess.run(["/bin/sh", "-c", "echo > " + d + "/free/shell"], check=True, stderr=subprocess.DEVNULL),
    "code": lambda: open("code/main", "a"),
    "link": lambda: (os.symlink(d + "/state/state.db", "tmp/link"), open("tmp/link").read()),
    "copy": lambda: (shutil.copy("/bin/true", "tmp/true"), os.chmod("tmp/true", 0o700), subprocess.run(["tmp/true"], check=True)),
    "tcp": tcp,
    "unix": lambda: connect(socket.AF_UNIX, s["Unix"]),
    "abstract": lambda: connect(socket.AF_UNIX, "\0" + s["Abstract"]),
    "pair": lambda: socket.socketpair(),
    "signal": lambda: os.kill(s["Victim"], 9),
    "parent": lambda: os.kill(os.getppid(), 0),
    "proc": lambda: open("/proc/self/maps").read(),
    "device": lambda: open("/dev/kmsg"),
    "namespace": unshare,
    "root": become_root,
}
for name, act in acts.items():
    try:
        act()
        print(json.dumps([name, ""]))
    except Exception as e:
        print(json.dumps([name, repr(e)]))
`

// The shell's only way to say that something failed is a status.
const hostileShell = `
try() { name=$1; shift; if ("$@") 2> tmp/said; then echo '["'$name'",""]'; else echo '["'$name'","refused"]'; fi; }
d=$(sed -e 's/.*"Dir":"//' -e 's/".*//' arguments.json)
victim=$(sed -e 's/.*"Victim"://' -e 's/,.*//' arguments.json)
device() { : < /dev/kmsg; }
redirect() { echo x > "$1"; }
copy() { cp /bin/true tmp/true2 && chmod 700 tmp/true2 && tmp/true2; }
try token grep -q secret "$d/state/token.key"
try other ls "$d/state/jobs/other/box/out"
try write redirect "$d/free/sh"
try code redirect code/new
try copy copy
try signal kill -KILL "$victim"
try proc grep -q heap /proc/self/maps
try device device
try namespace unshare -m true
try mount mount -t tmpfs none tmp
`

// Real interpreters find the same as the table says: nothing of it works where a
// tier confines, and all of it where none does.
func TestHostileScripts(t *testing.T) {
	asRoot(t)
	for _, a := range probe(t) {
		if a.Err != nil || a.Tier == confine.Worker {
			continue
		}
		for path, text := range map[string]string{"/bin/sh": hostileShell, "/usr/bin/python3": hostilePython} {
			name := filepath.Base(path)
			t.Run(string(a.Tier)+"/"+name, func(t *testing.T) {
				if _, err := exec.LookPath(path); err != nil {
					t.Skip(err)
				}
				if name == "sh" && a.Tier == confine.None {
					// It would mount, for all to see.
					text = text[:strings.Index(text, "try namespace")]
				}
				h := newTheater(t, a.Tier)
				write(t, filepath.Join(h.spec.Box, "code", "main"), text, 0o644)
				write(t, filepath.Join(h.spec.Box, "arguments.json"), asJSON(t, h.stage)+"\n", 0o644)
				h.before = h.seen(t)
				output, exit := run(t, scope.Options{Tier: scope.Tree}, scope.Command{
					Path: path, Args: interpreterArgs(name), Dir: h.spec.Box, Env: []string{"PATH=/usr/bin:/bin", "HOME=tmp", "TMPDIR=tmp"},
					Limits: simpleLimits, Confine: &h.spec,
				})
				if exit.Code != 0 {
					t.Fatalf("%v: %s", exit, output)
				}
				works := []string{}
				n := 0
				for line := range strings.Lines(output) {
					var said [2]string
					if err := json.Unmarshal([]byte(line), &said); err != nil {
						continue // what it stole
					}
					if n++; said[1] == "" {
						works = append(works, said[0])
					} else {
						t.Logf("%s: %s", said[0], said[1])
					}
				}
				if want := strings.Count(text, "\ntry ") + strings.Count(text, "\n    \""); n != want {
					t.Fatalf("%d of %d attempts: %s", n, want, output)
				}
				if a.Tier == confine.None {
					if len(works) != n {
						t.Errorf("only these work where nothing is in the way: %s", works)
					}
					return
				}
				if len(works) > 0 {
					t.Errorf("these work: %s", works)
				}
				h.aftermath(t, nil)
			})
		}
	}
}
