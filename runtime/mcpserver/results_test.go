package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Pages are whole JSON, hold every item once, and no value is written anew.
func TestPages(t *testing.T) {
	const big = "12345678901234567890"
	var items, members []string
	for i := range 250 {
		items = append(items, fmt.Sprintf(`{"i":%d,"n":%s,"f":1.0}`, i, big))
		members = append(members, fmt.Sprintf(`"k%d":[%d,"<é>",-0.0]`, i, i))
	}
	for name, tt := range map[string]struct {
		parts       []string
		open, close string
	}{"items": {items, "[", "]"}, "members": {members, "{", "}"}} {
		whole := tt.open + strings.Join(tt.parts, ",") + tt.close
		for _, limit := range []int{1, 99, 100, 250, 1000} {
			var got []string
			uri, pages := fmt.Sprintf("%sx?offset=0&limit=%d", resultPrefix, limit), 0
			for uri != "" {
				offset, limit, err := readPage(strings.TrimPrefix(uri, resultPrefix+"x?"))
				if err != nil {
					t.Fatal(err)
				}
				text, err := page([]byte(whole), resultPrefix+"x", offset, limit)
				if err != nil {
					t.Fatal(err)
				}
				var p struct {
					Items, Members json.RawMessage
					Total          int
					Next           string
				}
				if err := json.Unmarshal(text, &p); err != nil || p.Total != 250 {
					t.Fatalf("%s: %v", text, err)
				}
				part := string(append(p.Items, p.Members...))
				got = append(got, part[1:len(part)-1])
				uri = p.Next
				pages++
			}
			if strings.Join(got, ",") != tt.open[:0]+strings.Join(tt.parts, ",") || pages != (250+limit-1)/limit {
				t.Errorf("%s by %d: %d pages, not the same", name, limit, pages)
			}
		}
	}
	// A page is bounded by bytes too, but holds at least one item.
	large := `"` + strings.Repeat("x", maxPageBytes) + `"`
	text, err := page([]byte("["+large+",1,"+large+"]"), "u", 0, 100)
	if err != nil || string(text) != `{"items":[`+large+`],"total":3,"next":"u?offset=1&limit=100"}` {
		t.Errorf("%.50s %v", text, err)
	}
	text, err = page([]byte("["+large+",1,"+large+"]"), "u", 1, 100)
	if err != nil || string(text) != `{"items":[1],"total":3,"next":"u?offset=2&limit=100"}` {
		t.Errorf("%.50s %v", text, err)
	}
	if text, err = page([]byte("[1]"), "u", 5, 1); err != nil || string(text) != `{"items":[],"total":1}` {
		t.Errorf("%s %v", text, err)
	}
	for _, scalar := range []string{`"text"`, "1", "null", ""} {
		if _, err := page([]byte(scalar), "u", 0, 1); err == nil {
			t.Errorf("%s has pages", scalar)
		}
	}
	for _, query := range []string{"offset=-1", "offset=x", "limit=0", "offset=1&offset=2", "size=1", "offset=99999999999999999999", "%"} {
		if _, _, err := readPage(query); err == nil {
			t.Errorf("%q is taken", query)
		}
	}
}
