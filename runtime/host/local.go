package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/mcpserver"
)

// exec runs the program in a file, or on standard input.
func (p *program) exec(ctx context.Context, s session) int {
	arguments, err := p.execArguments(s)
	if err != nil {
		return p.broken(err)
	}
	answer, code := p.call(ctx, s, mcpserver.ExecuteTool, arguments)
	if code != ExitOK {
		return code
	}
	if answer.Check != nil {
		return p.checked(answer.Check)
	}
	if answer.Receipt != nil {
		for _, note := range answer.Receipt.Notes {
			fmt.Fprintf(p.stderr, "note: %s\n", note)
		}
	}
	return p.print(string(answer.Result) + "\n")
}

// execArguments are those of the tool.
func (p *program) execArguments(s session) (map[string]any, error) {
	source, err := p.readSource(s.arguments[0])
	if err != nil {
		return nil, err
	}
	arguments := map[string]any{"source": source}
	if s.exec.check {
		arguments["check"] = true
	}
	if name := s.exec.data; name != "" {
		data, err := p.readSource(name)
		if err != nil {
			return nil, err
		}
		if !json.Valid([]byte(data)) {
			return nil, fmt.Errorf("%s: not JSON", name)
		}
		arguments["data"] = json.RawMessage(data) // as it is: the tool reads it strictly
	}
	return arguments, nil
}

// checked prints what a check found. Problems are an exit code of 1.
func (p *program) checked(check json.RawMessage) int {
	var found struct {
		OK bool `json:"ok"`
	}
	if err := json.Unmarshal(check, &found); err != nil {
		return p.broken(err)
	}
	if code := p.print(string(check) + "\n"); code != ExitOK || found.OK {
		return code
	}
	return ExitFailed
}

func (p *program) describe(ctx context.Context, s session) int {
	answer, code := p.call(ctx, s, mcpserver.DescribeTool, map[string]any{"names": s.arguments})
	if code != ExitOK {
		return code
	}
	for _, name := range answer.NotFound {
		if now := answer.Renamed[name]; now != "" {
			fmt.Fprintf(p.stderr, "%s: %q was renamed to %q\n", p.options.Name, name, now)
			continue
		}
		fmt.Fprintf(p.stderr, "%s: no capability is called %q\n", p.options.Name, name)
	}
	if code := p.print(string(answer.whole) + "\n"); code != ExitOK || len(answer.NotFound) == 0 {
		return code
	}
	return ExitFailed
}

// maxSourceFile bounds what exec reads. The server's own MaxSourceBytes is
// smaller unless a host raised it, and is the one that is named then.
const maxSourceFile = 8 << 20

func (p *program) readSource(name string) (string, error) {
	in := p.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxSourceFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", name, err)
	case len(data) > maxSourceFile:
		return "", fmt.Errorf("%s: larger than %d bytes", name, maxSourceFile)
	case !utf8.Valid(data):
		return "", fmt.Errorf("%s: not UTF-8", name)
	}
	return string(data), nil
}

// answer is what the commands read of a tool's answer.
type answer struct {
	whole    json.RawMessage
	Result   json.RawMessage `json:"result"`
	Check    json.RawMessage `json:"check"`
	NotFound []string        `json:"not_found"`

	Renamed map[string]string `json:"renamed"`
	Receipt *receipt          `json:"receipt"`
	Prints  *struct {
		Text string `json:"text"`
		Cut  bool   `json:"cut"`
	} `json:"prints"`
	Error *struct {
		Class   string   `json:"class"`
		Message string   `json:"message"`
		Hint    string   `json:"hint"`
		Line    int      `json:"line"`
		Column  int      `json:"column"`
		Path    string   `json:"path"`
		Name    string   `json:"capability"`
		Trace   []string `json:"trace"`
	} `json:"error"`
}

// receipt is a receipt whose calls may stand for several in a row.
type receipt struct {
	runtime.Receipt
	Notes []string `json:"notes"`
	Calls []struct {
		runtime.CallRecord
		Count int `json:"count"`
	} `json:"calls"`
}

// call takes the way of an MCP client, as the subject local, and reports
// everything but the result on standard error.
func (p *program) call(ctx context.Context, s session, tool string, arguments map[string]any) (answer, int) {
	tools, err := mcpserver.NewTools(s.runtime, authz.StaticSubject(s.granted.to(authz.Local())), s.log)
	if err != nil {
		return answer{}, p.broken(err)
	}
	if p.options.ReturnPrints {
		tools.ReturnPrints()
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return answer{}, p.broken(err)
	}
	reply, err := tools.Call(ctx, tool, raw)
	if err != nil {
		return answer{}, p.broken(err)
	}
	a := answer{whole: reply.Content}
	if err := json.Unmarshal(reply.Content, &a); err != nil {
		return answer{}, p.broken(err)
	}
	if reply.Receipt != nil {
		if a.Receipt == nil { // else it holds notes, which stay
			a.Receipt = new(receipt)
		}
		if err := json.Unmarshal(reply.Receipt, a.Receipt); err != nil {
			return answer{}, p.broken(err)
		}
	}
	p.echo(a)
	code := ExitOK
	if reply.Failed() {
		if a.Error == nil {
			return answer{}, p.broken(errors.New("a failure without an error"))
		}
		p.explain(a)
		code = ExitFailed
	}
	if a.Receipt != nil {
		p.summarize(*a.Receipt)
	}
	return a, code
}

// echo writes what a program printed, line by line.
func (p *program) echo(a answer) {
	if a.Prints == nil {
		return
	}
	for line := range strings.Lines(a.Prints.Text) {
		fmt.Fprintf(p.stderr, "printed: %s\n", visible.Text(strings.TrimSuffix(line, "\n")))
	}
	if a.Prints.Cut {
		fmt.Fprintf(p.stderr, "printed: more than %d bytes, which were cut\n", runtime.MaxPrintBytes)
	}
}

// explain writes a failure for a reader at a terminal.
func (p *program) explain(a answer) {
	e := a.Error
	var where []string
	if e.Line > 0 {
		where = append(where, fmt.Sprintf("line %d, column %d", e.Line, e.Column))
	}
	// Some messages tell the name or the path themselves.
	if e.Name != "" && !strings.HasPrefix(e.Message, e.Name+" ") {
		where = append(where, e.Name)
	}
	if e.Path != "" && !strings.Contains(e.Message, " at "+e.Path) {
		where = append(where, e.Path)
	}
	where = append(where, e.Message)
	fmt.Fprintf(p.stderr, "%s: %s: %s\n", p.options.Name, strings.ReplaceAll(e.Class, "_", " "), visible.Text(strings.Join(where, ": ")))
	for _, frame := range e.Trace {
		fmt.Fprintf(p.stderr, "  %s\n", visible.Text(frame))
	}
	if e.Hint != "" {
		fmt.Fprintf(p.stderr, "  hint: %s\n", visible.Text(e.Hint))
	}
}

// summarize writes a receipt as one line, and one for each capability and
// outcome.
func (p *program) summarize(r receipt) {
	counts, calls := map[string]int{}, 0
	for _, c := range r.Calls {
		line := fmt.Sprintf("%s %s", c.Name, c.State)
		if c.Error != "" {
			line += fmt.Sprintf(" (%s)", c.Error)
		}
		counts[line] += max(c.Count, 1)
		calls += max(c.Count, 1)
	}
	fmt.Fprintf(p.stderr, "receipt %s: deployment %s, %d calls, %d steps, %.1f ms\n",
		r.Execution, r.Deployment, calls, r.Steps, float64(r.DurationMicros)/1000)
	var lines []string
	for line := range counts {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintf(p.stderr, "  %d × %s\n", counts[line], line)
	}
}
