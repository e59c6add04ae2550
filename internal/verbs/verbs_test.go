package verbs

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"listRepositories": "list_repositories", "getHTTPStatus": "get_http_status", "a-b": "a_b", "a_b": "a_b", "A.b/c:d": "a_b_c_d",
		"getV2Items": "get_v2_items", "-x-": "x", "é": "", "": "", "x\u200b": "", "URL": "url",
	} {
		if got := strings.Join(Words(name), "_"); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestLooks(t *testing.T) {
	for name, want := range map[string]string{
		"get_note": "get", "notes_list": "list", "notes_get_all": "get", "all": "", "": "", "note": "", "list_all": "list", "sublist": "",
	} {
		if got, ok := Looks(Words(name)); got != want || ok != (want != "") {
			t.Errorf("%s looks by %q, %t, want %q", name, got, ok, want)
		}
	}
	if !Destroys("purge") || Destroys("create") || !Adds("create") || !Changes("purge") || Changes("create") {
		t.Error("purge destroys and changes, create adds")
	}
}
