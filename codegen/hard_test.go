package codegen_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/hard"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

type hardHandler struct{}

func (hardHandler) Take(context.Context, hard.TakeInput) (hard.TakeOutput, error) { return true, nil }

// hardServer runs programs over hard.take and keeps what its authorizer saw.
type hardServer struct {
	*runtime.Server
	arguments string
	view      map[string]any
}

func newHardServer(t *testing.T) *hardServer {
	t.Helper()
	s := &hardServer{}
	b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AuthorizerFunc(func(_ context.Context, r authz.Request) (err error) {
		s.arguments = string(r.Arguments)
		s.view, err = r.View()
		return err
	})})
	hard.Register(b, hardHandler{})
	var err error
	if s.Server, err = b.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run is what hard.take gets of a program, or why it does not get it.
func (s *hardServer) run(t *testing.T, source string) string {
	t.Helper()
	s.arguments, s.view = "", nil
	_, err := s.Execute(t.Context(), authz.Local(), source)
	if e := (*runtime.Error)(nil); errors.As(err, &e) {
		if s.arguments != "" {
			t.Errorf("%s: refused, and yet the authorizer was asked", source)
		}
		return "refused: " + e.Fault().Path + ": " + e.Fault().Message
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.arguments
}

// fromJSON is the canonical form of JSON text, or why it has none.
func fromJSON(t *testing.T, text string) string {
	t.Helper()
	v, err := decode[hard.TakeInput](canon.NewJSONReader([]byte(text), depth))
	if e := (*canon.Error)(nil); errors.As(err, &e) {
		return "refused: " + e.Path + ": " + e.Message
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(v.AppendCanonical(nil))
}

// brackets are n arrays within each other.
func brackets(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// Two ids one apart are two ids: in canonical bytes, in what a policy sees and
// in a hash of the bytes, on both ways in.
func TestWideIntegersStayApart(t *testing.T) {
	s := newHardServer(t)
	for _, id := range []int64{1 << 53, 1<<53 + 1, 1<<62 - 1, 1<<63 - 2, -1 << 63, -1<<63 + 1, -1<<53 - 2} {
		var before string
		var seen any
		for i := range int64(2) {
			n := id + i
			want := fmt.Sprintf(`{"filled":3,"must":null,"wide":"%d"}`, n)
			if got := fromJSON(t, fmt.Sprintf(`{"must":null,"wide":"%d"}`, n)); got != want {
				t.Errorf("%d as JSON: %s", n, got)
			}
			got := s.run(t, fmt.Sprintf("hard.take(must=None, wide=%d)", n))
			if got != want {
				t.Errorf("%d of a program: %s", n, got)
			}
			if view := s.view["wide"]; view != strconv.FormatInt(n, 10) || view == seen {
				t.Errorf("%d in a policy's view: %v after %v", n, view, seen)
			}
			if sha256.Sum256([]byte(got)) == sha256.Sum256([]byte(before)) {
				t.Errorf("%d and the one before have one hash", n)
			}
			before, seen = got, s.view["wide"]
		}
	}
}

// apart leaves out what every accepted row has: must and the default.
func apart(got string) string {
	if !strings.HasPrefix(got, "{") {
		return got
	}
	got = strings.Replace(got, `"filled":3,`, ``, 1)
	got = strings.NewReplacer(`"must":null,`, ``, `,"must":null`, ``).Replace(got)
	return strings.Replace(got, `"must":null`, ``, 1)
}

func zeroes(n int) string { return "[0" + strings.Repeat(",0", n-1) + "]" }

func manyZeros(n int) string {
	members := make([]string, n)
	for i := range n {
		members[i] = fmt.Sprintf(`"%d":0`, i)
	}
	return "{" + strings.Join(members, ",") + "}"
}
