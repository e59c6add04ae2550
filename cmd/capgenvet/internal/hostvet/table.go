package hostvet

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// kind is what a call may be, a bit for each rule.
type kind uint8

const (
	privileged kind = 1 << iota // nothing to do while a package is initialized
	prints                      // to standard output
	writes                      // changes something that outlives the process
	serves                      // starts workers
	speaks                      // MCP over standard streams
)

var kinds = [...]kind{privileged, prints, writes, serves, speaks}

// silenced is what a comment for a rule answers.
func silenced(rule string) kind {
	switch rule {
	case ruleInit:
		return privileged
	case ruleStdout:
		return prints
	case ruleReadonly:
		return writes
	}
	return 0
}

const (
	module = "github.com/capgen/capgen"
	unix   = "golang.org/x/sys/unix."
)

// calls are functions of known kinds, a list of names after a package and, for
// methods, a receiver.
var calls = []struct {
	kind  kind
	of    string // "os." or "(*os.Root)."
	names string
}{
	{privileged, "os.", "Open ReadFile ReadDir OpenRoot OpenInRoot Chdir Getenv LookupEnv Environ ExpandEnv Setenv Unsetenv Clearenv"},
	{privileged | writes, "os.", "Create CreateTemp MkdirTemp Mkdir MkdirAll Remove RemoveAll Rename Symlink Link Chmod Chown Lchown Chtimes Truncate WriteFile CopyFS StartProcess"},
	{privileged, "(*os.Root).", "Open ReadFile OpenRoot"},
	{privileged | writes, "(*os.Root).", "Create Mkdir MkdirAll Remove RemoveAll Rename Symlink Link Chmod Chown Lchown Chtimes WriteFile"},
	{privileged | writes, "(*os.File).", "Truncate Chmod Chown WriteAt"},
	{privileged | writes, "(*os.Process).", "Kill Signal"},
	{privileged, "io/ioutil.", "ReadFile ReadDir"},
	{privileged | writes, "io/ioutil.", "WriteFile TempFile TempDir"},
	{privileged, "path/filepath.", "Walk WalkDir Glob"},
	{privileged, "plugin.", "Open"},
	{privileged, "net.", "Dial DialTimeout DialIP DialTCP DialUDP DialUnix Listen ListenIP ListenTCP ListenUDP ListenUnix ListenUnixgram ListenMulticastUDP ListenPacket LookupAddr LookupCNAME LookupHost LookupIP LookupMX LookupNS LookupPort LookupSRV LookupTXT"},
	{privileged, "(*net.Dialer).", "Dial DialContext"},
	{privileged, "(*net.ListenConfig).", "Listen ListenPacket"},
	{privileged, "crypto/tls.", "Dial DialWithDialer Listen"},
	{privileged, "net/http.", "Get Head ListenAndServe ListenAndServeTLS Serve ServeTLS"},
	{privileged, "(*net/http.Client).", "Do Get Head"},
	{privileged, "(*net/http.Server).", "ListenAndServe ListenAndServeTLS Serve ServeTLS"},
	{privileged, "(*net/http.Transport).", "RoundTrip"},
	{privileged | writes, "net/http.", "Post PostForm"},
	{privileged | writes, "(*net/http.Client).", "Post PostForm"},
	{privileged | writes, "net/smtp.", "SendMail"},
	{privileged | writes, "(*net/smtp.Client).", "Mail Rcpt Data"},
	{privileged | writes, "os/exec.", "Command CommandContext"},
	{privileged | writes, "(*os/exec.Cmd).", "Run Start Output CombinedOutput"},
	{privileged, "os/signal.", "Notify NotifyContext"},
	{privileged, "time.", "AfterFunc"},
	{privileged, "database/sql.", "Open OpenDB"},
	{privileged | writes, "(*database/sql.DB).", "Exec ExecContext"},
	{privileged | writes, "(*database/sql.Conn).", "ExecContext"},
	{privileged | writes, "(*database/sql.Tx).", "Exec ExecContext"},
	{privileged | writes, "(*database/sql.Stmt).", "Exec ExecContext"},
	{privileged | prints, "fmt.", "Print Printf Println"},
	{serves | speaks, module + "/runtime/host.", "Main"},
	{serves, "(*" + module + "/runtime.Builder).", "Build"},
	{serves, module + "/runtime/worker.", "NewPool"},
}

// systemCalls are the same in syscall and golang.org/x/sys/unix.
var systemCalls = []struct {
	kind  kind
	names string
}{
	{privileged, "Getenv Environ Connect Bind Listen"},
	{privileged | writes, "Creat Setenv Exec ForkExec StartProcess Kill Unlink Unlinkat Rename Renameat Renameat2 Mkdir Mkdirat Rmdir Link Linkat Symlink Symlinkat Truncate Ftruncate Chmod Fchmod Fchmodat Chown Fchown Fchownat Lchown Mknod Mknodat Mount Unmount"},
}

// known are the kinds of all of these, by full name.
type known map[string]kind

func newKnown() known {
	k := known{}
	add := func(what kind, of, names string) {
		for name := range strings.FieldsSeq(names) {
			k[of+name] |= what
		}
	}
	for _, c := range calls {
		add(c.kind, c.of, c.names)
	}
	for _, c := range systemCalls {
		add(c.kind, "syscall.", c.names)
		add(c.kind, unix, c.names)
	}
	return k
}

// ofCall is the kind of a call of fn; arguments, the receiver first, decide
// about some. They are nil where the function's value is taken.
func (k known) ofCall(fn *types.Func, args []ssa.Value) kind {
	name := fn.FullName()
	if what := k[name]; what != 0 {
		return what
	}
	switch name {
	case "os.OpenFile", "syscall.Open", unix + "Open":
		return privileged | mayWrite(fn.Pkg(), args, 1)
	case "(*os.Root).OpenFile", "syscall.Openat", unix + "Openat":
		return privileged | mayWrite(fn.Pkg(), args, 2)
	case "syscall.Write", unix + "Write", "os.NewFile":
		if isInt(args, 0, 1) {
			return privileged | prints
		}
	case "net/http.NewRequest":
		return unsafeMethod(args, 0)
	case "net/http.NewRequestWithContext":
		return unsafeMethod(args, 1)
	case "(*database/sql.DB).Query", "(*database/sql.DB).QueryRow", "(*database/sql.Tx).Query", "(*database/sql.Tx).QueryRow":
		return statement(args, 1)
	case "(*database/sql.DB).QueryContext", "(*database/sql.DB).QueryRowContext", "(*database/sql.Tx).QueryContext", "(*database/sql.Tx).QueryRowContext",
		"(*database/sql.Conn).QueryContext", "(*database/sql.Conn).QueryRowContext":
		return statement(args, 2)
	}
	return 0
}

// constantAt is the value of an argument that is a constant, nil for another.
func constantAt(args []ssa.Value, i int) constant.Value {
	if i < 0 || i >= len(args) {
		return nil
	}
	if c, ok := args[i].(*ssa.Const); ok {
		return c.Value
	}
	return nil
}

// mayWrite: the flags, by the constants of the package that opens, are not
// those of a file that is read; or nobody knows.
func mayWrite(pkg *types.Package, args []ssa.Value, i int) kind {
	flags := constantAt(args, i)
	if flags == nil {
		return writes
	}
	for _, name := range []string{"O_WRONLY", "O_RDWR", "O_APPEND", "O_CREATE", "O_CREAT", "O_TRUNC"} {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if ok && constant.Sign(constant.BinaryOp(flags, token.AND, c.Val())) != 0 {
			return writes
		}
	}
	return 0
}

func isInt(args []ssa.Value, i int, want int64) bool {
	c := constantAt(args, i)
	if c == nil || c.Kind() != constant.Int {
		return false
	}
	got, exact := constant.Int64Val(c)
	return exact && got == want
}

// unsafeMethod: RFC 9110, section 9.2.1, has the methods that are safe.
func unsafeMethod(args []ssa.Value, i int) kind {
	c := constantAt(args, i)
	if c == nil || c.Kind() != constant.String {
		return 0
	}
	switch constant.StringVal(c) {
	case "POST", "PUT", "PATCH", "DELETE":
		return writes
	}
	return 0
}

// unsafeRequest: the method of a request that is set, in a literal or after it.
func unsafeRequest(store *ssa.Store) kind {
	field, ok := store.Addr.(*ssa.FieldAddr)
	if !ok {
		return 0
	}
	pointer, ok := field.X.Type().Underlying().(*types.Pointer)
	if !ok {
		return 0
	}
	named, ok := types.Unalias(pointer.Elem()).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != "net/http" || named.Obj().Name() != "Request" {
		return 0
	}
	if s, ok := named.Underlying().(*types.Struct); !ok || s.Field(field.Field).Name() != "Method" {
		return 0
	}
	return unsafeMethod([]ssa.Value{store.Val}, 0)
}

// statement: what of SQL begins with one of these writes.
func statement(args []ssa.Value, i int) kind {
	c := constantAt(args, i)
	if c == nil || c.Kind() != constant.String {
		return 0
	}
	words := strings.Fields(constant.StringVal(c))
	if len(words) == 0 {
		return 0
	}
	switch strings.ToUpper(words[0]) {
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "UPSERT", "CREATE", "DROP", "ALTER", "TRUNCATE":
		return writes
	}
	return 0
}
