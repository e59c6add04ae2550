package text

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMethodsAreCPythons compares with recorded answers (testdata/record.py).
func TestMethodsAreCPythons(t *testing.T) {
	f, err := os.Open("testdata/text.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); n++ {
		var row []any
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		method, receiver, args, want := row[0].(string), row[1].(string), row[2].([]any), row[3]
		got, err := json.Marshal(answer(method, receiver, args))
		if err != nil {
			t.Fatal(err)
		}
		var plain any
		if err := json.Unmarshal(got, &plain); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, plain); diff != "" {
			t.Errorf("%q.%s(%q):\n(-CPython +ours)\n%s", receiver, method, args, diff)
		}
	}
	if n < 1000 {
		t.Errorf("%d rows only", n)
	}
}

// answer calls what the method is here.
func answer(method, s string, args []any) any {
	text := func(i int) string {
		if i < len(args) && args[i] != nil {
			return args[i].(string)
		}
		return ""
	}
	number := func(i, missing int) int {
		if i < len(args) && args[i] != nil {
			return int(args[i].(float64))
		}
		return missing
	}
	list := func(l []string) []string {
		if l == nil {
			return []string{}
		}
		return l
	}
	three := func(a, b, c string) []string { return []string{a, b, c} }
	strip := func(left, right bool) string {
		if len(args) == 0 {
			return Strip(s, nil, left, right)
		}
		characters := text(0)
		return Strip(s, &characters, left, right)
	}
	switch method {
	case "upper":
		return Upper(s)
	case "lower":
		return Lower(s)
	case "title":
		return Title(s)
	case "capitalize":
		return Capitalize(s)
	case "swapcase":
		return SwapCase(s)
	case "casefold":
		return Fold(s)
	case "isalpha":
		return IsAlpha(s)
	case "isdecimal":
		return IsDecimal(s)
	case "isdigit":
		return IsDigit(s)
	case "isnumeric":
		return IsNumeric(s)
	case "isalnum":
		return IsAlnum(s)
	case "isspace":
		return IsSpaceText(s)
	case "isascii":
		return IsASCII(s)
	case "islower":
		return IsLower(s)
	case "isupper":
		return IsUpper(s)
	case "istitle":
		return IsTitle(s)
	case "isidentifier":
		return IsIdentifier(s)
	case "isprintable":
		return IsPrintable(s)
	case "split":
		if text(0) == "" {
			return list(Fields(s, number(1, -1)))
		}
		return list(Split(s, text(0), number(1, -1)))
	case "rsplit":
		if text(0) == "" {
			return list(RFields(s, number(1, -1)))
		}
		return list(RSplit(s, text(0), number(1, -1)))
	case "splitlines":
		return list(Lines(s, args[0].(bool)))
	case "strip":
		return strip(true, true)
	case "lstrip":
		return strip(true, false)
	case "rstrip":
		return strip(false, true)
	case "partition":
		return three(Partition(s, text(0)))
	case "rpartition":
		return three(RPartition(s, text(0)))
	case "replace":
		return Replace(s, text(0), text(1), number(2, -1))
	case "find":
		return Find(s, text(0), number(1, 0), number(2, End))
	case "rfind":
		return RFind(s, text(0), number(1, 0), number(2, End))
	case "count":
		return Count(s, text(0), number(1, 0), number(2, End))
	case "startswith":
		return HasPrefix(s, text(0), number(1, 0), number(2, End))
	case "endswith":
		return HasSuffix(s, text(0), number(1, 0), number(2, End))
	case "center":
		return Center(s, number(0, 0), text(1))
	case "ljust":
		return LJust(s, number(0, 0), text(1))
	case "rjust":
		return RJust(s, number(0, 0), text(1))
	case "zfill":
		return ZFill(s, number(0, 0))
	case "expandtabs":
		return ExpandTabs(s, number(0, 8))
	case "__len__":
		return Len(s)
	case "__repr__":
		return Repr(s, false)
	case "__getitem__":
		c, _ := At(s, number(0, 0))
		return c
	case "slice":
		low, high, step := bounds(Len(s), args)
		return Slice(s, low, high, step)
	}
	return "no such method: " + method
}

// bounds makes those of a slice absolute.
func bounds(n int, args []any) (low, high, step int) {
	step = 1
	if args[2] != nil {
		step = int(args[2].(float64))
	}
	low, high = 0, n
	least, most := 0, n
	if step < 0 {
		low, high = n-1, -1
		least, most = -1, n-1
	}
	for i, p := range []*int{&low, &high} {
		if args[i] == nil {
			continue
		}
		*p = int(args[i].(float64))
		if *p < 0 {
			*p += n
		}
		*p = min(max(*p, least), most)
	}
	if step > 0 {
		high = max(high, low)
	} else {
		high = min(high, low)
	}
	return low, high, step
}
