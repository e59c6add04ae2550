package host

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/capgen/capgen/internal/nearest"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/mcphttp"
)

// Setting is one way to configure a program from outside.
type Setting struct {
	// Flag without its dashes, Variable of the environment; either is empty
	// when there is none.
	Flag, Variable string
	Usage          string
}

// Settings lists all flags of a program, its own included, and all variables
// of the environment that Main reads, sorted by flag. None sets a limit:
// limits are set in Go, where they are reviewed.
func Settings(o Options) []Setting {
	var list []Setting
	newFlags(o, new(config)).VisitAll(func(f *flag.Flag) {
		list = append(list, Setting{Flag: f.Name, Variable: o.variable(f.Name), Usage: f.Usage})
	})
	return append(list, Setting{Variable: tokenVariable, Usage: tokenUsage})
}

const tokenUsage = "http: the shared token itself; no flag sets it"

// variable names the variable that stands in for a flag, of Main or of the
// extension.
func (o Options) variable(flagName string) string {
	switch flagName {
	case "log-level":
		return "CAPGEN_LOG_LEVEL"
	case "log-format":
		return "CAPGEN_LOG_FORMAT"
	case "deployment":
		return "CAPGEN_DEPLOYMENT"
	case "listen":
		return "CAPGEN_LISTEN"
	case "public-url":
		return "CAPGEN_PUBLIC_URL"
	case "tls-cert":
		return "CAPGEN_TLS_CERT"
	case "tls-key":
		return "CAPGEN_TLS_KEY"
	case "token-file":
		return "CAPGEN_TOKEN_FILE"
	case "metrics-listen":
		return "CAPGEN_METRICS_LISTEN"
	case "drain":
		return "CAPGEN_DRAIN"
	case "results-dir":
		return "CAPGEN_RESULTS_DIR"
	case "issuer":
		return issuerVariable
	case "jwks":
		return "CAPGEN_JWKS"
	case "offer-scope":
		return "CAPGEN_OFFER_SCOPE"
	case "require-scope":
		return "CAPGEN_REQUIRE_SCOPE"
	case "grant-scope":
		return "CAPGEN_GRANT_SCOPE"
	}
	return o.Extension.Variables[flagName]
}

// config is what the flags say.
type config struct {
	logLevel, logFormat string
	deployment          string
	version, help       bool
	search              searchFlags
	exec                execFlags
	http                httpFlags
	tokens              tokenFlags
	grantScopes         words
	audit               auditFlags
	// given are the flags on the command line, without those that variables
	// stand in for.
	given map[string]bool
}

// ownFlags are flags that belong together, of one command alone.
var ownFlags = []struct {
	command string
	flags   []string
}{
	{"audit", []string{"heads", "keys", "from"}},
	{"exec", []string{"data", "check"}},
	{"http", []string{"listen", "public-url", "tls-cert", "tls-key", "token-file", "insecure", "metrics-listen", "drain", "results-dir"}},
	{"http", []string{"issuer", "jwks", "plain-jwt", "offer-scope", "require-scope"}},
	{"search", []string{"namespace", "limit", "explain"}},
}

// foreign refuses flags that only another command has. A variable that only
// another command reads is for that one.
func (c config) foreign(command string) error {
	for _, group := range ownFlags {
		own := group.flags
		if group.command != command && slices.ContainsFunc(own, func(name string) bool { return c.given[name] }) {
			last := len(own) - 1
			return fmt.Errorf("--%s and --%s are flags of %s, not of %s", strings.Join(own[:last], ", --"), own[last], group.command, command)
		}
	}
	return nil
}

// execFlags are of the command exec alone.
type execFlags struct {
	data  string // file
	check bool
}

// searchFlags are of the command search alone.
type searchFlags struct {
	namespace string
	limit     int
	explain   bool
}

// noSearchFlags is what stands when none was given.
func noSearchFlags() searchFlags { return searchFlags{limit: runtime.DefaultSearchResults} }

func newFlags(o Options, c *config) *flag.FlagSet {
	f := flag.NewFlagSet(o.Name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors and usage are reported by us
	f.StringVar(&c.logLevel, "log-level", "", "`level` of the log: debug, info, warn or error (default info; warn for exec, search and describe)")
	f.StringVar(&c.logFormat, "log-format", "text", "`format` of the log: text or json")
	f.StringVar(&c.deployment, "deployment", "", "refuse to start unless the deployment with this `name` was compiled in")
	f.BoolVar(&c.version, "version", false, "print the version and exit")
	f.BoolVar(&c.help, "help", false, "print this help and exit")
	f.StringVar(&c.search.namespace, "namespace", "", "search: keep only capabilities in this `namespace` or below it")
	f.IntVar(&c.search.limit, "limit", noSearchFlags().limit, fmt.Sprintf("search: return at most this `number` of capabilities, 1 to %d", runtime.DefaultMaxSearchResults))
	f.BoolVar(&c.search.explain, "explain", false, "search: print scores and the terms that match, not JSON")
	f.StringVar(&c.exec.data, "data", "", "exec: the JSON object in this `file` is what the program reads as data")
	f.BoolVar(&c.exec.check, "check", false, "exec: only look at the program, and run nothing")
	f.StringVar(&c.http.listen, "listen", "localhost:8080", "http: the `address` to listen on, host:port")
	f.StringVar(&c.http.publicURL, "public-url", "", "http: the `URL` by which clients reach the server, if a proxy stands before it")
	f.StringVar(&c.http.tlsCert, "tls-cert", "", "http: serve TLS with the certificate chain in this PEM `file`")
	f.StringVar(&c.http.tlsKey, "tls-key", "", "http: and with the private key in this PEM `file`")
	f.StringVar(&c.http.tokenFile, "token-file", "", "http: whoever sends the token in this `file` may use the server")
	f.BoolVar(&c.http.insecure, "insecure", false, "http: let everybody in who reaches the server, without a token")
	f.StringVar(&c.http.metricsListen, "metrics-listen", "", "http: answer /metrics on this `address`, without a token")
	f.DurationVar(&c.http.drain, "drain", mcphttp.DefaultDrain, "http: how much `time` running calls have when serving ends")
	f.StringVar(&c.http.resultsDir, "results-dir", "", "http: keep large results in this `directory`, which processes that share load share")
	if o.Tokens != nil {
		f.Var(&c.tokens.issuers, "issuer", "http: take the access tokens of the OAuth 2.1 `issuer` with this URL; may be repeated")
		f.StringVar(&c.tokens.jwks, "jwks", "", "http: the key set of the one issuer is in this `file`, or at this URL; without it its metadata tells")
		f.BoolVar(&c.tokens.plainJWT, "plain-jwt", false, "http: take access tokens whose type is not at+jwt, too, as some issuers send them")
		f.Var(&c.tokens.offerScopes, "offer-scope", "http: tell clients that they may ask the issuer for this `scope`; may be repeated")
		f.Var(&c.tokens.requireScope, "require-scope", "http: answer tokens without this `scope` with 403, whatever they ask for; may be repeated")
	}
	f.Var(&c.grantScopes, "grant-scope", "subjects whose scopes no token tells (local, development, shared-token) have this `scope` and not all; may be repeated, none is none")
	f.StringVar(&c.audit.heads, "heads", "", "audit: compare the log with the signed heads in this `file`")
	f.StringVar(&c.audit.keys, "keys", "", "audit: and take them if a verifier key in this `file`, one a line, has signed them")
	f.Uint64Var(&c.audit.from, "from", 1, "audit: the first record has this `number`, where earlier files were removed")
	for _, declare := range []func(*flag.FlagSet){o.Extension.Flags, o.Flags} {
		if declare != nil {
			declare(f)
		}
	}
	return f
}

// parse reads flags, wherever they stand before "--", and then the
// environment for those that were not given. It returns the other arguments.
func parse(o Options, args []string, lookup func(string) (string, bool)) (c config, positional []string, err error) {
	f := newFlags(o, &c)
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--":
			positional, args = append(positional, args[1:]...), nil
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			positional, args = append(positional, arg), args[1:]
		default:
			// One flag at a time: the package would take what follows "--"
			// for flags again.
			n := 1
			name, _, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			if known := f.Lookup(name); known != nil && !inline && !isBool(known) && len(args) > 1 {
				n = 2
			}
			if err := f.Parse(args[:n]); err != nil {
				return c, positional, flagError(f, name, err)
			}
			args = args[n:]
		}
	}
	c.given = map[string]bool{}
	f.Visit(func(f *flag.Flag) { c.given[f.Name] = true })
	f.VisitAll(func(known *flag.Flag) {
		name := o.variable(known.Name)
		if name == "" || c.given[known.Name] || err != nil {
			return
		}
		if value, ok := lookup(name); ok && value != "" {
			if e := f.Set(known.Name, value); e != nil {
				err = fmt.Errorf("%s: %w", name, e)
			}
		}
	})
	return c, positional, err
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// flagError says it of an unknown flag in the words of the rest of the
// program, with the nearest name.
func flagError(f *flag.FlagSet, name string, err error) error {
	if errors.Is(err, flag.ErrHelp) { // -h, which nobody declared
		return err
	}
	if f.Lookup(name) != nil {
		return err
	}
	var names []string
	f.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if near := nearest.Name(name, names); near != "" {
		return fmt.Errorf("unknown flag --%s; did you mean --%s?", name, near)
	}
	return fmt.Errorf("unknown flag --%s", name)
}

// usage is the text of help: of all commands, or of the one that the words
// begin with.
func usage(o Options, about []string) string {
	var b strings.Builder
	added, _, extended := o.extended(about)
	shown := func(string) bool { return true }
	if extended {
		fmt.Fprintf(&b, "%s\n\nusage: %s [flags]\n", added.Summary, strings.TrimSpace(o.Name+" "+added.Name+" "+added.Arguments))
		shown = func(flag string) bool { return o.has(added.Name, added.Flags, flag) }
	} else if i := slices.IndexFunc(commands(), func(c command) bool { return len(about) > 0 && c.name == about[0] }); i >= 0 {
		c := commands()[i]
		fmt.Fprintf(&b, "%s\n\nusage: %s [flags]\n", c.summary, strings.TrimSpace(o.Name+" "+c.name+" "+c.arguments))
		shown = func(flag string) bool { return o.has(c.name, nil, flag) }
	} else {
		if o.Summary != "" {
			fmt.Fprintf(&b, "%s\n\n", o.Summary)
		}
		fmt.Fprintf(&b, "usage: %s COMMAND [flags]\n\n", o.Name)
		for _, c := range commands() {
			fmt.Fprintf(&b, "  %-20s %s\n", strings.TrimSpace(c.name+" "+c.arguments), c.summary)
		}
		for _, c := range o.Extension.Commands {
			if !c.Hidden {
				fmt.Fprintf(&b, "  %-20s %s\n", strings.TrimSpace(c.Name+" "+c.Arguments), c.Summary)
			}
		}
		fmt.Fprintf(&b, "\n%s help COMMAND lists the flags of one command.\n", o.Name)
	}
	b.WriteString("\nflags:\n")
	newFlags(o, new(config)).VisitAll(func(f *flag.Flag) {
		if !shown(f.Name) {
			return
		}
		value, text := flag.UnquoteUsage(f)
		if f.DefValue != "" && !isBool(f) {
			text += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		if v := o.variable(f.Name); v != "" {
			text += " [" + v + "]"
		}
		fmt.Fprintf(&b, "  %-26s %s\n", strings.TrimSpace("--"+f.Name+" "+value), text)
	})
	if shown("token-file") {
		fmt.Fprintf(&b, "  %-26s %s [%s]\n", "", tokenUsage, tokenVariable)
	}
	b.WriteString("\nFlags come before variables of the environment, and those before defaults.\n")
	return b.String()
}

// has tells whether a command, whose own flags are these, takes a flag.
func (o Options) has(command string, own []string, flag string) bool {
	given := map[string]bool{flag: true}
	return (config{given: given}).foreign(command) == nil && o.foreignTo(own, given) == nil
}
