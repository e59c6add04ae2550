package confine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// What an honest candidate does, in shell: it reads its code and arguments, works
// in tmp, and writes its result, by the same paths in every tier.
const honestShell = `set -eu
[ "$(cat arguments.json)" = '{"n":3}' ]
cat code/main > tmp/copy
mkdir tmp/dir && mv tmp/copy tmp/dir/copy && ln -s copy tmp/dir/link && cmp code/main tmp/dir/link
cat /dev/zero 2>/dev/null | head -c 10 > /dev/null
(exit 3) || true
echo '{"sum":6}' > out/result.json
[ "$(umask)" = 0077 ]
echo fine`

// The same in Python, with what such programs import.
const honestPython = `import ctypes, json, math, decimal, random, statistics, subprocess, tempfile, threading, concurrent.futures, os, sys, helper
assert helper.answer == 42
for capability in range(64): # not even for what it executes
    assert ctypes.CDLL(None).prctl(23, capability, 0, 0, 0) != 1, capability
for fd in range(3, 64):
    try:
        os.fstat(fd)
        assert False, "descriptor %d is open" % fd
    except OSError:
        pass
arguments = json.load(open("arguments.json"))
with concurrent.futures.ThreadPoolExecutor() as pool:
    total = sum(pool.map(int, range(arguments["n"] + 1)))
assert open("code/main").read().startswith("import")
with tempfile.TemporaryFile() as f, tempfile.NamedTemporaryFile() as g, tempfile.TemporaryDirectory() as d:
    f.write(os.urandom(16))
    open(os.path.join(d, "x"), "w").close()
    assert os.listdir(d) == ["x"]
assert subprocess.run(["/bin/sh", "-c", "exit 5"]).returncode == 5
assert random.random() < 1 and math.isfinite(statistics.mean([1, 2]))
json.dump({"sum": total}, open("out/result.json", "w"))
print("fine")
`

// What else programs use of the system, and libraries in their name: each line is one
// that has to work.
const usefulPython = `import ctypes, datetime, fcntl, importlib, mmap, multiprocessing, os, resource, select, selectors, shutil, signal, subprocess, sys, tarfile, tempfile, threading, time
for name in """asyncio bisect bz2 cProfile calendar concurrent.futures csv curses dataclasses email gzip hashlib http.client inspect io json logging lzma
    multiprocessing.pool pathlib pickle platform queue random shelve socket sqlite3 ssl struct sysconfig tempfile termios tracemalloc unittest urllib.request
    uuid venv xml.etree.ElementTree zipfile zoneinfo""".split():
    try:
        importlib.import_module(name)
    except ImportError: # not every system has all of them
        pass
def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout
def child(connection):
    connection.send("child")
def processes():
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    p = context.Process(target=child, args=(theirs,))
    p.start(); p.join(20)
    assert ours.recv() == "child" and p.exitcode == 0
def timeouts():
    try:
        subprocess.run(["sleep", "1000"], timeout=0.1)
        assert False
    except subprocess.TimeoutExpired:
        pass
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        assert p.communicate(b"x", timeout=20)[0] == b"x"
def timer():
    got = []
    signal.signal(signal.SIGALRM, lambda *_: got.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while not got: time.sleep(0.01)
def locks():
    with open("tmp/lock", "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX)
        fcntl.fcntl(f, fcntl.F_SETFD, fcntl.fcntl(f, fcntl.F_GETFD) | fcntl.FD_CLOEXEC)
        fcntl.fcntl(f, fcntl.F_DUPFD_CLOEXEC, 10)
def polls():
    r, w = os.pipe()
    with selectors.DefaultSelector() as s:
        s.register(r, selectors.EVENT_READ)
        os.write(w, b"x")
        assert len(s.select(20)) == 1
    p = select.poll(); p.register(r); assert p.poll(20)
def database():
    try:
        import sqlite3
    except ImportError:
        return
    with sqlite3.connect(":memory:") as db:
        db.execute("create table t(x)"); db.execute("insert into t values (1)")
    ctypes.CDLL(None).getcwd(path := ctypes.create_string_buffer(4096), 4096)
    if not os.path.exists(path.value): # it makes paths absolute, and here none leads to the box
        return
    with sqlite3.connect("tmp/db") as db:
        db.execute("pragma journal_mode = wal"); db.execute("create table t(x)"); db.executemany("insert into t values (?)", [(n,) for n in range(1000)])
    db.close()
    db = sqlite3.connect("tmp/db"); assert db.execute("select count(*) from t").fetchone() == (1000,); db.execute("vacuum"); db.close()
def files():
    with open("tmp/file", "w+b") as f:
        f.write(bytes(10000)); f.flush(); os.fsync(f.fileno()); f.truncate(100); f.truncate(5000); f.seek(20000); f.write(b"x")
        os.pwrite(f.fileno(), b"y", 30000); assert os.fstat(f.fileno()).st_size == 30001
        try:
            libc = os.confstr("CS_GNU_LIBC_VERSION")
        except (OSError, ValueError):
            libc = None
        if libc: # others do not write instead
            os.posix_fallocate(f.fileno(), 0, 40000); assert os.fstat(f.fileno()).st_size == 40000
    os.truncate("tmp/file", 10)
    with tempfile.TemporaryFile() as t, open("tmp/file", "rb") as f:
        shutil.copyfileobj(f, t); os.sendfile(t.fileno(), f.fileno(), 0, 10); os.copy_file_range(f.fileno(), t.fileno(), 10, 0)
    run("truncate", "-s", "100K", "tmp/sparse"); run("dd", "if=/dev/zero", "of=tmp/dd", "bs=1k", "count=10")
def maps():
    with open("tmp/map", "wb+") as f:
        f.write(bytes(4096)); f.flush()
        with mmap.mmap(f.fileno(), 4096) as m: m[0] = 1; m.flush()
def archives():
    with tarfile.open("tmp/x.tar.gz", "w:gz") as t: t.add("code")
    with tarfile.open("tmp/x.tar.gz") as t: t.extractall("tmp/x", filter="data") if hasattr(tarfile, "data_filter") else t.extractall("tmp/x")
acts = {
    "copy2": lambda: shutil.copy2("code/main", "tmp/copied"), "copytree": lambda: shutil.copytree("code", "tmp/tree"), "move": lambda: shutil.move("tmp/copied", "tmp/moved"),
    "rmtree": lambda: shutil.rmtree("tmp/tree"), "utime": lambda: os.utime("tmp/moved", (1, 1)), "chmod": lambda: os.chmod("tmp/moved", 0o600), "link": lambda: os.link("tmp/moved", "tmp/second"),
    "cp": lambda: run("cp", "-p", "code/main", "tmp/p"), "cp -a": lambda: run("cp", "-a", "code", "tmp/a"), "mv": lambda: run("mv", "tmp/p", "tmp/q"), "touch": lambda: run("touch", "-d", "2020-01-01", "tmp/q"),
    "ls": lambda: run("ls", "-la", "code"), "install": lambda: run("install", "-m", "644", "code/main", "tmp/i"), "tar": lambda: run("tar", "-cf", "tmp/t.tar", "code"), "tar -x": lambda: run("tar", "-xf", "tmp/t.tar", "-C", "tmp"),
    "sort": lambda: run("sort", "code/main"), "pipe": lambda: run("sh", "-c", "seq 1 1000 | sort -rn | head -1"), "timeout": lambda: run("timeout", "20", "true"), "nice": lambda: run("nice", "true"),
    "nice of its own": lambda: os.nice(1), "affinity": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)), "limits": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)), "limits of its own": lambda: resource.prlimit(0, resource.RLIMIT_CPU),
    "session": lambda: run("true", start_new_session=True), "statvfs": lambda: os.statvfs("tmp"), "fsync": lambda: os.sync(), "eventfd": lambda: ctypes.CDLL(None).eventfd(0, 0),
    "processes": processes, "timeouts": timeouts, "timer": timer, "locks": locks, "polls": polls, "database": database, "files": files, "maps": maps, "archives": archives,
    "date": lambda: (datetime.datetime.now(), time.strftime("%c"), time.process_time()),
    "itself": lambda: run(sys.executable, "-c", "print(1)"),
}
for name, act in acts.items():
    try:
        act()
    except Exception as e:
        print(name, repr(e), getattr(e, "stderr", ""))
print("fine")
`

// boot starts a script of Python that only a relative path leads to. Python makes
// paths absolute where it can, and where the directory above the box is private, an
// account of its own does not get through that.
const boot = `import os, posix, sys
posix.getcwd = os.getcwd = lambda: "."
sys.path.insert(0, "code")
sys.argv = [__file__ := "code/main"]
exec(compile(open(__file__, "rb").read(), __file__, "exec"))
`

func interpreterArgs(name string) []string {
	if name == "python3" {
		return []string{name, "-I", "-B", "-c", boot}
	}
	return []string{name, "code/main"}
}

// What the filter refuses is nothing that programs need.
func TestUseful(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/python3"); err != nil {
		t.Skip(err)
	}
	for _, s := range native(t) {
		t.Run(string(s.Tier), func(t *testing.T) {
			s.Box = newBox(t, private(t), "main", usefulPython)
			if err := s.Own(); err != nil {
				t.Fatal(err)
			}
			output, exit := run(t, scope.Options{Tier: scope.Tree}, scope.Command{
				Path: "/usr/bin/python3", Args: interpreterArgs("python3"), Dir: s.Box, Env: []string{"PATH=/usr/bin:/bin", "HOME=tmp", "TMPDIR=tmp"},
				Limits: scope.Limits{Processes: 64, Memory: 4 << 30, File: 8 << 20, Open: 64}, Confine: &s,
			})
			if exit.Code != 0 || output != "fine\n" {
				t.Fatalf("%v: %s", exit, output)
			}
		})
	}
}

// Interpreters work in each tier, in each scope, and what is theirs is not more.
func TestHonest(t *testing.T) {
	for _, s := range native(t) {
		for _, o := range scopes(t) {
			for path, text := range map[string]string{"/bin/sh": honestShell, "/usr/bin/python3": honestPython} {
				name := filepath.Base(path)
				t.Run(string(s.Tier)+"/"+string(o.Tier)+"/"+name, func(t *testing.T) {
					if _, err := exec.LookPath(path); err != nil {
						t.Skip(err)
					}
					// As it is below a state directory.
					s.Box = newBox(t, private(t), "main", text)
					write(t, filepath.Join(s.Box, "code", "helper.py"), "answer = 42\n", 0o600)
					if err := s.Own(); err != nil {
						t.Fatal(err)
					}
					output, exit := run(t, o, scope.Command{
						Path: path, Args: interpreterArgs(name), Dir: s.Box, Env: []string{"PATH=/usr/bin:/bin", "HOME=tmp", "TMPDIR=tmp"},
						Limits: scope.Limits{Processes: 64, Memory: 4 << 30, File: 1 << 20, Open: 64}, Confine: &s,
					})
					if exit.Code != 0 || output != "fine\n" {
						t.Fatalf("%v: %s", exit, output)
					}
					result, err := os.ReadFile(filepath.Join(s.Box, "out", "result.json"))
					if err != nil || strings.ReplaceAll(strings.TrimSpace(string(result)), " ", "") != `{"sum":6}` {
						t.Errorf("%s, %v", result, err)
					}
				})
			}
		}
	}
}
