package binding_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
)

func entry(name string) binding.Entry {
	c := everything()
	c.Name, c.ID = name, "id of "+name
	return binding.Entry{Name: name, ID: c.ID, Binding: string(c.AppendJSON(nil))}
}

func TestTable(t *testing.T) {
	entries := []binding.Entry{entry("b.b"), entry("a.z"), entry("a.b_c"), entry("a.b.c")}
	wire := binding.EncodeTable(entries)
	if entries[0].Name != "b.b" {
		t.Error("EncodeTable sorted its argument")
	}
	shuffled := binding.EncodeTable([]binding.Entry{entries[2], entries[3], entries[0], entries[1]})
	if string(wire) != string(shuffled) {
		t.Error("the bytes depend on the order of entries")
	}
	table, err := binding.ParseTable(wire)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.b.c", "a.b_c", "a.z", "b.b"}, table.Names()); diff != "" {
		t.Error(diff)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256(wire)); table.Digest() != want {
		t.Errorf("digest %s, want %s", table.Digest(), want)
	}
	var wg sync.WaitGroup
	for range 4 {
		for _, e := range entries {
			wg.Go(func() {
				c, err := table.Lookup(e.Name)
				if err != nil || c.Name != e.Name || c.ID != e.ID || len(c.Input) != 11 {
					t.Errorf("%s: %v, %v", e.Name, c, err)
				}
			})
		}
	}
	wg.Wait()
	a, _ := table.Lookup("a.z")
	if b, _ := table.Lookup("a.z"); a != b {
		t.Error("parsed twice")
	}
	for _, name := range []string{"", "a", "a.b", "z.z"} {
		if c, err := table.Lookup(name); c != nil || !errors.Is(err, binding.ErrUnknown) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
}

func TestEmptyTable(t *testing.T) {
	table, err := binding.ParseTable(binding.EncodeTable(nil))
	if err != nil || len(table.Names()) != 0 || len(table.Digest()) != 64 {
		t.Errorf("%v, %v", table, err)
	}
}

// A binding that is refused harms its own capability only, when it is named.
func TestLookupRefuses(t *testing.T) {
	other, wrongID := entry("a.b"), entry("a.c")
	other.Name = "a.a"
	wrongID.ID = "another"
	table, err := binding.ParseTable(binding.EncodeTable([]binding.Entry{
		other, wrongID, entry("a.d"), {Name: "a.e", ID: "a.e", Binding: "{"}, {Name: "a.f", ID: "", Binding: "{}"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a.a": "binding: the entry of a.a holds another capability",
		"a.c": "binding: the entry of a.c holds another capability",
		"a.d": "",
		"a.e": "binding: unexpected end of input (capability a.e)",
		"a.f": "binding: id of a.f: expected at least 1 character, got 0",
	} {
		c, err := table.Lookup(name)
		if (c == nil) != (want != "") || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: got %v, %v; want %s", name, c, err, want)
		}
	}
}

func TestParseTableRefuses(t *testing.T) {
	rows := func(rows ...[]string) []byte {
		w := canon.NewWireWriter(nil)
		w.BeginArray(len(rows), 0, len(rows))
		for i, row := range rows {
			w.Element(i)
			w.BeginArray(len(row), 0, len(row))
			for j, s := range row {
				w.Element(j)
				w.String(s, 0, 1000)
			}
			w.EndArray()
		}
		w.EndArray()
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		return w.Bytes()
	}
	good := rows([]string{"a.b", "a.b", "{}"})
	if _, err := binding.ParseTable(good); err != nil {
		t.Fatal(err)
	}
	many := make([]binding.Entry, binding.MaxTableEntries+1)
	for i := range many {
		many[i] = binding.Entry{Name: fmt.Sprintf("a.b%d", i)}
	}
	for name, tt := range map[string]struct {
		wire []byte
		want string
	}{
		"empty":           {nil, "unexpected end of input"},
		"trailing":        {append(good[:len(good):len(good)], 0xC0), "unexpected data after the value"},
		"cut":             {good[:len(good)-1], "truncated value"},
		"no array":        {[]byte{0x80}, "expected array, got object"},
		"two texts":       {rows([]string{"a.b", "a.b"}), "[0]: expected at least 3 items, got 2"},
		"old names":       {rows(append([]string{"a.b", "", ""}, strings.Split(strings.Repeat("a.c ", 17), " ")[:17]...)), "[0]: expected at most 19 items, got 20"},
		"old name":        {rows([]string{"a.b", "", "", "ab"}), "[0][3]: expected a capability name"},
		"old name twice":  {rows([]string{"a.b", "", "", "a.a"}, []string{"a.c", "", "", "a.a"}), "[1][3]: an old name twice"},
		"name":            {rows([]string{"ab", "", ""}), "[0][0]: expected a capability name"},
		"name long":       {rows([]string{"a." + strings.Repeat("b", 63), "", ""}), "[0][0]: expected at most 64 characters, got 65"},
		"name no text":    {[]byte{0x91, 0x93, 1, 0xA0, 0xA0}, "[0][0]: expected string, got integer"},
		"id no text":      {[]byte{0x91, 0x93, 0xA3, 'a', '.', 'b', 1, 0xA0}, "[0][1]: expected string, got integer"},
		"binding no text": {[]byte{0x91, 0x93, 0xA3, 'a', '.', 'b', 0xA0, 0x90}, "[0][2]: expected string, got array"},
		"bad UTF-8":       {[]byte{0x91, 0x93, 0xA3, 'a', '.', 'b', 0xA0, 0xA1, 0xFF}, "[0][2]: invalid UTF-8"},
		"order":           {rows([]string{"b.b", "", ""}, []string{"a.b", "", ""}), "[1][0]: names not in order"},
		"twice":           {binding.EncodeTable([]binding.Entry{{Name: "a.b"}, {Name: "a.b"}}), "[1][0]: names not in order, or one twice"},
		"too many":        {binding.EncodeTable(many), "unexpected end of input"},
		"no UTF-8":        {binding.EncodeTable([]binding.Entry{{Name: "a.b", Binding: "\xff"}}), "unexpected end of input"},
		"promises":        {[]byte{0xDD, 255, 255, 255, 255}, "truncated value"},
	} {
		table, err := binding.ParseTable(tt.wire)
		if table != nil || err == nil || !strings.HasPrefix(err.Error(), "binding: table: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	if _, err := binding.ParseTable(binding.EncodeTable(many[1:])); err != nil {
		t.Error(err)
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add(binding.EncodeTable([]binding.Entry{entry("a.b"), entry("a.c")}))
	f.Add([]byte{0x90})
	f.Fuzz(func(t *testing.T, wire []byte) {
		table, err := binding.ParseTable(wire)
		if err != nil {
			return
		}
		for _, name := range table.Names() {
			if c, err := table.Lookup(name); err == nil && c.Name != name {
				t.Errorf("%s gives %s", name, c.Name)
			}
		}
	})
}

// BenchmarkParseTable shows what a worker pays at its start, against parsing
// every binding of the same 1,000 capabilities.
func BenchmarkParseTable(b *testing.B) {
	var entries []binding.Entry
	for i := range 1000 {
		entries = append(entries, entry(fmt.Sprintf("a.b%d", i)))
	}
	wire := binding.EncodeTable(entries)
	b.Run("names", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := binding.ParseTable(wire); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("control", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, e := range entries {
				if _, err := binding.ParseCapability(e.Binding); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
