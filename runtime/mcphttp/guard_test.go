package mcphttp

import (
	"net"
	"net/url"
	"strings"
	"testing"
)

// The address that was bound decides, not the words it was asked for by.
func TestExposed(t *testing.T) {
	for _, tt := range []struct {
		listen, public string
		want           bool
	}{
		{"127.0.0.1:0", "", false},
		{"localhost:0", "", false},
		{"127.8.8.8:0", "", false},
		{"[::1]:0", "", false},
		{":0", "", true},
		{"0.0.0.0:0", "", true},
		{"[::]:0", "", true},
		{"127.0.0.1:0", "https://tools.example/mcp", true},
		{"127.0.0.1:0", "https://localhost.example/mcp", true},
		{"127.0.0.1:0", "http://localhost:8080/mcp", false},
		{"127.0.0.1:0", "http://127.0.0.1:8080/mcp", false},
		{"0.0.0.0:0", "http://localhost:8080/mcp", true},
	} {
		l, err := net.Listen("tcp", tt.listen)
		if err != nil {
			t.Logf("%s: %v", tt.listen, err) // no IPv6 here
			continue
		}
		var public *url.URL
		if tt.public != "" {
			if public, err = ParsePublicURL(tt.public); err != nil {
				t.Fatal(err)
			}
		}
		if got := Exposed(l.Addr(), public); got != tt.want {
			t.Errorf("%s, bound to %s, known as %q: exposed %v", tt.listen, l.Addr(), tt.public, got)
		}
		l.Close()
	}
	if !Exposed(&net.UnixAddr{Name: "x", Net: "unix"}, nil) {
		t.Error("an address of another kind is not exposed")
	}
	for _, ip := range []string{"10.0.0.1", "192.168.1.5", "::", "2001:db8::1", "::ffff:10.0.0.1"} {
		if !Exposed(&net.TCPAddr{IP: net.ParseIP(ip)}, nil) {
			t.Errorf("%s is not exposed", ip)
		}
	}
}

func TestPublicURL(t *testing.T) {
	for text, path := range map[string]string{
		"https://tools.example": "/mcp", "https://tools.example/": "/", "http://tools.example:8080/a/b": "/a/b",
	} {
		u, err := ParsePublicURL(text)
		if err != nil || u.Path != path {
			t.Errorf("%s: %v, %v", text, u, err)
		}
	}
	for _, text := range []string{
		"", "tools.example", "ftp://tools.example", "https://", "https:///mcp", "https://u:p@tools.example/", "https://tools.example/?a=b", "https://tools.example/?",
		"https://tools.example/#f", "https://tools.example/#", "https://tools.example/mcp/", "https://tools.example/a%2fb", "https://tools.example//mcp",
		"https://tools.example/{x}", "https://tools.example/healthz", "://",
	} {
		if u, err := ParsePublicURL(text); err == nil {
			t.Errorf("%q is taken as %v", text, u)
		}
	}
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}

// Neither a page of another origin nor one whose name leads here (DNS
// rebinding) gets anything from any path by any method.
func TestPagesFromElsewhereAreRefused(t *testing.T) {
	public, err := ParsePublicURL("https://tools.example/mcp")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {PublicURL: public}} {
		f := start(t, o)
		id, a := f.initialize()
		if a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		for _, path := range []string{"/mcp", "/healthz", "/none"} {
			for _, method := range methods {
				for _, headers := range [][]string{
					{"Host: evil.example"},
					{"Host: evil.example:80"},
					{"Host: localhost.evil.example"},
					{"Host: 10.0.0.1"},
					{"Origin: https://evil.example"},
					{"Origin: null"},
					{"Origin: "},
					{"Origin: https://" + f.address},
					{"Origin: http://127.0.0.1:1"}, // another server's page on this machine
					{"Origin: http://localhost"},
					{"Origin: https://tools.example.evil.example"},
					{"Origin: http://tools.example"},
					{"Origin: https://tools.example", "Origin: https://evil.example"},
					{"Sec-Fetch-Site: cross-site"},
					{"Sec-Fetch-Site: same-site"},
				} {
					a := f.send(method, "http://"+f.address+path, "", append(headers, "Mcp-Session-Id: "+id)...)
					if a.status != 403 {
						t.Errorf("%s %s %v: %d %s", method, path, headers, a.status, a.body)
					}
					if strings.Contains(a.body, "evil") || a.header.Get("Access-Control-Allow-Origin") != "" {
						t.Errorf("%s %s %v: %v %s", method, path, headers, a.header, a.body)
					}
				}
			}
		}
		for _, headers := range [][]string{{"Host: localhost:1"}, {"Host: LOCALHOST"}, {"Host: [::1]:8080"}, {"Host: 127.0.0.1"}, {"Sec-Fetch-Site: none"}, {"Sec-Fetch-Site: same-origin"}, {"Origin: http://" + f.address}, {"Host: localhost:1", "Origin: http://LOCALHOST:1"}} {
			if a := f.send("GET", "http://"+f.address+"/healthz", "", headers...); a.status != 200 {
				t.Errorf("%v: %d %s", headers, a.status, a.body)
			}
		}
		for _, headers := range [][]string{{"Host: tools.example"}, {"Host: Tools.Example:443"}, {"Origin: https://tools.example"}} {
			want := 403
			if o.PublicURL != nil {
				want = 200
			}
			if a := f.send("GET", "http://"+f.address+"/healthz", "", headers...); a.status != want {
				t.Errorf("%v: %d, want %d", headers, a.status, want)
			}
		}
	}
}
