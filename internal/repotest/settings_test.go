package repotest

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// settings are all ways to configure a program of this module from outside,
// each with what it sets. None sets a limit: limits are set in Go, where they
// are reviewed. A new one belongs here only if that stays true.
var settings = map[string]string{
	"--against":             "which older manifest to compare with",
	"--agent-key":           "who signs an approval",
	"--ssh-agent":           "where the keys are",
	"--agent-uid":           "which account agents have",
	"--approval-daemon":     "where approvals are kept",
	"--approval-daemon-uid": "and as whom",
	"--gone":                "which host is not there any more",
	"--job-cgroup":          "below which control group runs are",
	"--job-uids":            "which accounts candidates have",
	"--keep":                "how old is what clean removes",
	"--keep-heads":          "where a daemon keeps heads of audit trails",
	"--key":                 "who signs an approval",
	"--log":                 "where a daemon keeps approvals",
	"--max-jobs":            "how many runs at a time; the limit itself is operate.Setup.MaxJobs",
	"--name":                "what an approver is called",
	"--newest":              "how many jobs are listed",
	"--reason":              "why a plan is rejected, or a job cancelled",
	"--server-uid":          "whose plans a daemon serves",
	"--signer":              "which keys a daemon keeps",
	"--state":               "where plans are kept",
	"--status":              "which plans, or jobs, are listed",
	"--tail":                "how much of a log is printed",
	"--trust-root":          "whose approvals count",
	"--check":               "looks at a program, and runs nothing",
	"--data":                "what a program is given",
	"--dir":                 "where to make a project",
	"--deployment":          "refuses to start without it",
	"--confirm-effects":     "vouches for what an import proposes",
	"--namespace":           "what imported names begin with; where to search",
	"--package":             "go.package of an imported manifest",
	"--dry-run":             "writes nothing",
	"--explain":             "shows what scores of a search are made of; what a rule of lint looks for",
	"--format":              "form of findings",
	"--drain":               "how long an end may take",
	"--heads":               "what an audit log is compared with",
	"--keys":                "who may have signed it",
	"--from":                "where an audit log begins",
	"--help":                "help",
	"--grant-scope":         "what subjects without a token may do",
	"--insecure":            "lets everybody in",
	"--issuer":              "whose access tokens are good",
	"--jwks":                "where an issuer's keys are",
	"--offer-scope":         "what clients are told to ask for",
	"--plain-jwt":           "takes access tokens of another type",
	"--require-scope":       "what tokens need for any request",
	"--limit":               "how many hits of a search; the limit itself is MaxSearchResults",
	"--listen":              "where to listen",
	"--log-format":          "form of the log",
	"--log-level":           "level of the log",
	"--manifest":            "which manifest",
	"--metrics-listen":      "where to answer /metrics",
	"--out":                 "where to write",
	"--public-url":          "where clients reach the server",
	"--replace":             "which checkout of capgen a project uses",
	"--template":            "what a new project begins with",
	"--results-dir":         "where to keep large results",
	"--root":                "what may be read",
	"--tls-cert":            "which certificate",
	"--tls-key":             "which key",
	"--token-file":          "who may use the server",
	"--strict":              "makes warnings fail",
	"--version":             "version",
	"CAPGEN_DEPLOYMENT":     "as --deployment",
	"CAPGEN_DRAIN":          "as --drain",
	"CAPGEN_GRANT_SCOPE":    "as --grant-scope",
	"CAPGEN_ISSUER":         "as --issuer",
	"CAPGEN_JWKS":           "as --jwks",
	"CAPGEN_LISTEN":         "as --listen",
	"CAPGEN_OFFER_SCOPE":    "as --offer-scope",
	"CAPGEN_REQUIRE_SCOPE":  "as --require-scope",
	"CAPGEN_LOG_FORMAT":     "as --log-format",
	"CAPGEN_LOG_LEVEL":      "as --log-level",
	"CAPGEN_METRICS_LISTEN": "as --metrics-listen",
	"CAPGEN_PUBLIC_URL":     "as --public-url",
	"CAPGEN_RESULTS_DIR":    "as --results-dir",
	"CAPGEN_TLS_CERT":       "as --tls-cert",
	"CAPGEN_TLS_KEY":        "as --tls-key",
	"CAPGEN_TOKEN":          "the token of --token-file itself",
	"CAPGEN_TOKEN_FILE":     "as --token-file",
	privateWorkerSetting:    "marks a worker process; its value is a protocol version",
	privateRunSetting:       "marks a process of a run's scope; its value is what it is there for",
	privateCandidateSetting: "marks a process of a candidate; its value is the runner's name",
	privateMemorySetting:    "what its supervisor gives a process of a candidate, as the plan says",

	"CAPGEN_APPROVAL_DAEMON":     "as --approval-daemon",
	"CAPGEN_APPROVAL_DAEMON_UID": "as --approval-daemon-uid",
	"CAPGEN_APPROVAL_KEY":        "as --key",
	"CAPGEN_JOB_CGROUP":          "as --job-cgroup",
	"CAPGEN_JOB_UIDS":            "as --job-uids",
	"CAPGEN_MAX_JOBS":            "as --max-jobs",
	"CAPGEN_STATE":               "as --state",
	"CAPGEN_TRUST_ROOT":          "as --trust-root",
}

// privateWorkerSetting is between a host and its workers, for nobody to set.
const privateWorkerSetting = "CAPGEN_WORKER"

// privateRunSetting is between a scope and its processes, for nobody to set.
const privateRunSetting = "CAPGEN_RUN"

// privateCandidateSetting and privateMemorySetting are between a supervisor and the
// host's own runner, for nobody to set.
const (
	privateCandidateSetting = "CAPGEN_CANDIDATE"
	privateMemorySetting    = "CAPGEN_RUN_MEMORY"
)

// readsEnvironment are the files that may ask for a variable at all; the
// credentials of a deployment are variables that its manifest names.
var readsEnvironment = []string{"runtime/credentials.go", "runtime/govern/environment.go", "runtime/govern/job/runner/starlark.go", "runtime/govern/job/runner/starlark_linux.go", "runtime/govern/job/scope/keeper_linux.go", "runtime/govern/job/scope/spawn_linux.go", "runtime/host/main.go", "runtime/internal/stdoutguard/guard.go", "runtime/worker/entry.go"}

var (
	variableName     = regexp.MustCompile(`^CAPGEN_[A-Z_]+$`)
	environmentCalls = []string{"os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "syscall.Getenv", "syscall.Environ"}
)

// outsideSettings: the flags and variables that the code has are those of the
// list above, the environment is read in few places, and the reference of the
// command line names each.
func outsideSettings(tr *tree) []string {
	var out []string
	have := map[string]bool{}
	for _, name := range tr.goFiles(notTest) {
		f := tr.parse(name)
		if f == nil {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && variableName.MatchString(text) {
					have[text] = true
				}
			case *ast.CallExpr:
				switch flag, ok := flagName(n); {
				case !ok:
				case flag == "":
					out = append(out, fmt.Sprintf("%s: the name of a flag is not written out", tr.at(n.Pos())))
				default:
					have["--"+flag] = true
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && slices.Contains(environmentCalls, x.Name+"."+n.Sel.Name) && !slices.Contains(readsEnvironment, name) {
					out = append(out, fmt.Sprintf("%s: reads the environment", tr.at(n.Pos())))
				}
			}
			return true
		})
	}
	reference := tr.read("docs/reference/cli.md")
	for _, s := range slices.Sorted(maps.Keys(have)) {
		if settings[s] == "" {
			out = append(out, s+" is not in the list of settings_test.go")
		}
		// What every command has needs no row.
		private := []string{privateWorkerSetting, privateRunSetting, privateCandidateSetting, privateMemorySetting}
		if s != "--help" && s != "--version" && !slices.Contains(private, s) && !strings.Contains(reference, "`"+s) {
			out = append(out, "docs/reference/cli.md: no row for "+s)
		}
	}
	if !have[privateWorkerSetting] {
		return out // a part of the tree
	}
	for _, s := range slices.Sorted(maps.Keys(settings)) {
		if !have[s] {
			out = append(out, s+" is in the list of settings_test.go, but not in the code")
		}
	}
	return out
}

// flagName is the flag that a call of package flag's FlagSet declares; empty
// if it is not a literal.
func flagName(call *ast.CallExpr) (name string, ok bool) {
	fn, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod {
		return "", false
	}
	at := 1
	switch fn.Sel.Name {
	case "StringVar", "BoolVar", "IntVar", "Int64Var", "UintVar", "Uint64Var", "Float64Var", "DurationVar", "TextVar":
		if len(call.Args) < 4 {
			return "", false
		}
	case "Var":
		if len(call.Args) != 3 {
			return "", false
		}
	case "BoolFunc", "Duration", "Float64", "Int", "Int64", "Uint", "Uint64", "Bool", "String":
		// The methods of readers and writers have other arguments.
		if at = 0; len(call.Args) != 3 {
			return "", false
		}
		if lit, literal := call.Args[2].(*ast.BasicLit); !literal || !strings.HasPrefix(lit.Value, `"`) {
			return "", false
		}
	default:
		return "", false
	}
	lit, literal := call.Args[at].(*ast.BasicLit)
	if !literal {
		return "", true
	}
	name, _ = strconv.Unquote(lit.Value)
	return name, true
}
