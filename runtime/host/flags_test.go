package host

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
)

// Limits are set in Go, where they are reviewed: no flag and no variable of
// the environment sets one.
func TestNoSettingSetsALimit(t *testing.T) {
	settings := Settings(Options{Name: "x", Tokens: noTokens, Flags: func(f *flag.FlagSet) { f.Bool("own", false, "a program's own") }})
	var got []string
	for _, s := range settings {
		got = append(got, strings.TrimSpace(s.Flag+" "+s.Variable))
	}
	want := []string{
		"check", "data", "deployment CAPGEN_DEPLOYMENT", "drain CAPGEN_DRAIN", "explain", "from", "grant-scope CAPGEN_GRANT_SCOPE", "heads", "help", "insecure", "issuer CAPGEN_ISSUER", "jwks CAPGEN_JWKS", "keys", "limit", "listen CAPGEN_LISTEN", "log-format CAPGEN_LOG_FORMAT",
		"log-level CAPGEN_LOG_LEVEL", "metrics-listen CAPGEN_METRICS_LISTEN", "namespace", "offer-scope CAPGEN_OFFER_SCOPE", "own", "plain-jwt", "public-url CAPGEN_PUBLIC_URL", "require-scope CAPGEN_REQUIRE_SCOPE", "results-dir CAPGEN_RESULTS_DIR", "tls-cert CAPGEN_TLS_CERT", "tls-key CAPGEN_TLS_KEY",
		"token-file CAPGEN_TOKEN_FILE", "version", "CAPGEN_TOKEN",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings: %s\nA new one belongs here only if it sets no limit; --limit asks search for fewer.", diff)
	}
	words := regexp.MustCompile(`[A-Z][a-z]+`)
	limits := reflect.TypeFor[runtime.Limits]()
	for i := range limits.NumField() {
		name := strings.ToLower(strings.Join(words.FindAllString(limits.Field(i).Name, -1), "-"))
		for _, s := range settings {
			if strings.Contains(s.Flag, name) || strings.Contains(s.Flag, strings.TrimPrefix(name, "max-")) {
				t.Errorf("flag --%s sets limit %s", s.Flag, limits.Field(i).Name)
			}
		}
	}
}

// Every variable that the source names is in the list, and the environment is
// read in one place.
func TestSettingsAreComplete(t *testing.T) {
	listed := map[string]bool{}
	for _, s := range Settings(Options{Name: "x", Tokens: noTokens}) {
		listed[s.Variable] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	names, reads := regexp.MustCompile(`"(CAPGEN_[A-Z_]+)"`), regexp.MustCompile(`os\.(Getenv|LookupEnv|Environ)`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range names.FindAllSubmatch(text, -1) {
			if !listed[string(m[1])] {
				t.Errorf("%s reads %s, which Settings does not list", file, m[1])
			}
		}
		if n := len(reads.FindAll(text, -1)); n > 0 && !(file == "main.go" && n == 2) {
			t.Errorf("%s reads the environment", file)
		}
	}
}

func noTokens(authz.TokenSettings) (authz.Verifier, error) { return nil, nil }

func TestParse(t *testing.T) {
	var own string
	var on bool
	o := Options{Name: "x", Flags: func(f *flag.FlagSet) {
		f.StringVar(&own, "own", "default", "")
		f.BoolVar(&on, "on", false, "")
	}}
	for _, tt := range []struct {
		args       string
		positional string
		own        string
		on         bool
	}{
		{"exec file", "exec|file", "default", false},
		{"--own v exec file", "exec|file", "v", false},
		{"exec --own v file", "exec|file", "v", false},
		{"exec -own=v file -on", "exec|file", "v", true},
		{"-on exec file", "exec|file", "default", true},
		{"-on=false exec -", "exec|-", "default", false},
		{"search -- --own v", "search|--own|v", "default", false},
		{"search --own -- x", "search|x", "--", false},
		{"search a -- b -- c", "search|a|b|--|c", "default", false},
		{"search --own= x", "search|x", "", false},
		{"--own a --own b", "", "b", false},
	} {
		own, on = "", false
		_, positional, err := parse(o, strings.Fields(tt.args), func(string) (string, bool) { return "", false })
		if err != nil || strings.Join(positional, "|") != tt.positional || own != tt.own || on != tt.on {
			t.Errorf("%s: %q own=%q on=%v, %v", tt.args, positional, own, on, err)
		}
	}
}
