package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
)

// ReceiptKey is where the receipt of a successful execution stands in the
// result's _meta. A failed one carries it beside the error, where a model
// sees it.
const ReceiptKey = "capgen/receipt"

// Answer is how a tool call ended.
//
// Content is one JSON object: for search_api a runtime.SearchResult, for
// describe_api a runtime.DescribeResult, for execute {"result": …} and, when
// something must be said about it, {"receipt": {"notes": […]}}, alone where the
// result is kept in a ResultStore; for execute
// with check {"check": {ok, problems, capabilities}, "receipt": …}. A failure of
// any of them is
// {"error": {class, message, hint?, line?, column?, path?, capability?, code?,
// limit?, bound?, trace?}, "receipt"?: …}, in whose receipt calls in a row that
// ended alike are one record with a "count". An execution of a server that
// returns prints has "prints": {"text": …, "cut"?: true} beside all that, if its
// program printed. For a tool that is a capability it is the
// capability's result, which need not be an object.
type Answer struct {
	Content json.RawMessage
	// Receipt of a successful execution, nil otherwise.
	Receipt json.RawMessage
	// Class of the failure; empty on success.
	Class fault.Class

	link *link // to the result, where it is kept elsewhere

	// Of a direct tool, whose Content is the result itself, or that of a
	// failure:
	notes    []string // texts of their own
	textOnly bool     // Content is no structured content
	linkOnly bool     // Content is no text
}

// Failed reports whether the call failed.
func (a Answer) Failed() bool { return a.Class != "" }

// wideNote is said when a number became a string.
const wideNote = "an integer beyond ±(2^53-1) is written as a decimal string, because JSON clients would round it"

// noneNote is said when there is nothing to read, which is seldom meant.
const noneNote = "the program returned None: return from main what is to be read"

// noValueNote is said of a script for the same reason.
const noValueNote = "the program has no value: end it in an expression, or assign to result"

// discardedNote goes on where prints are not returned.
const discardedNote = "; what is printed is discarded"

// notes are the receipt that a model sees on success: only what it must know of
// the result. Clients find the whole one in _meta.
func notes(x runtime.Execution, prints bool) (notes []string) {
	discarded := discardedNote
	if prints {
		discarded = ""
	}
	switch {
	case x.NoValue:
		notes = append(notes, noValueNote+discarded)
	case len(x.Result) == 0 || string(x.Result) == "null":
		notes = append(notes, noneNote+discarded)
	}
	return append(notes, resultNotes(x)...)
}

// resultNotes are those about values, whoever asked for them.
func resultNotes(x runtime.Execution) (notes []string) {
	if x.WideIntegers {
		notes = append(notes, wideNote)
	}
	var names []string
	for _, c := range x.Receipt.Calls {
		if c.Breaches > 0 && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		notes = append(notes, breachNote+strings.Join(names, ", "))
	}
	return notes
}

// breachNote is said before the names of capabilities that answered with other
// values than they are described to.
const breachNote = "results held values outside of what describe_api says, from "

// executionAnswer embeds the result's bytes as they are: a number must not
// pass through a float64 on its way to the client.
//
// A result that is kept elsewhere has a link, and stands in the answer only as
// a note of it.
//
// prints says whether they are returned.
func executionAnswer(x runtime.Execution, kept *link, prints bool) (Answer, error) {
	result := x.Result
	if len(result) == 0 {
		result = []byte("null")
	}
	if !json.Valid(result) {
		// The SDK drops an answer that does not encode, and the client would
		// wait for it until it gives up.
		return Answer{}, fmt.Errorf("mcpserver: the result of execution %s is not JSON", x.Receipt.Execution)
	}
	notes := notes(x, prints)
	content := append([]byte(`{"result":`), result...)
	if kept != nil {
		content, notes = []byte("{"), append(notes, kept.note())
	}
	add := func(opening string, value any, closing string) error {
		told, err := encode(value)
		if len(content) > 1 {
			content = append(content, ',')
		}
		content = append(append(append(content, opening...), told...), closing...)
		return err
	}
	if p := printsOf(x.Prints); p != nil {
		if err := add(`"prints":`, p, ""); err != nil {
			return Answer{}, err
		}
	}
	if len(notes) > 0 {
		if err := add(`"receipt":{"notes":`, notes, "}"); err != nil {
			return Answer{}, err
		}
	}
	content = append(content, '}')
	receipt, err := encode(withCalls(x.Receipt))
	if err != nil {
		return Answer{}, err
	}
	return Answer{Content: content, Receipt: receipt, link: kept}, nil
}

// errorBody is the error member of an answer.
type errorBody struct {
	Class      fault.Class `json:"class"`
	Message    string      `json:"message"`
	Hint       string      `json:"hint,omitempty"`
	Line       int         `json:"line,omitempty"`
	Column     int         `json:"column,omitempty"`
	Path       string      `json:"path,omitempty"`
	Capability string      `json:"capability,omitempty"`
	Code       string      `json:"code,omitempty"`
	Limit      string      `json:"limit,omitempty"`
	Bound      int64       `json:"bound,omitempty"`
	Trace      []string    `json:"trace,omitempty"`
}

// printsBody is the prints member of an answer.
type printsBody struct {
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty"`
}

// printsOf is nil where there are none.
func printsOf(p runtime.Prints) *printsBody {
	if p.Text == "" && !p.Cut {
		return nil
	}
	return &printsBody{p.Text, p.Cut}
}

type failure struct {
	Error   errorBody      `json:"error"`
	Prints  *printsBody    `json:"prints,omitempty"`
	Receipt *foldedReceipt `json:"receipt,omitempty"`
}

// checkedNote is said of every check, whose answer looks like no result.
const checkedNote = "checked only: nothing of the program ran, and no capability was called"

// checkAnswer tells what a check found. Problems are not a failure of the
// check.
func checkAnswer(c runtime.Check) (Answer, error) {
	problems := make([]errorBody, len(c.Problems))
	for i, f := range c.Problems {
		problems[i] = bodyOf(f)
	}
	var content struct {
		Check struct {
			OK           bool                        `json:"ok"`
			Problems     []errorBody                 `json:"problems"`
			Capabilities []runtime.CheckedCapability `json:"capabilities"`
		} `json:"check"`
		Receipt struct {
			Notes []string `json:"notes"`
		} `json:"receipt"`
	}
	content.Check.OK = len(problems) == 0
	content.Check.Problems, content.Check.Capabilities = problems, orEmpty(c.Capabilities)
	content.Receipt.Notes = []string{checkedNote}
	text, err := encode(content)
	if err != nil {
		return Answer{}, err
	}
	receipt, err := encode(withCalls(c.Receipt))
	return Answer{Content: text, Receipt: receipt}, err
}

func bodyOf(f fault.Fault) errorBody {
	return errorBody{
		Class: f.Class, Message: f.Message, Hint: f.Hint, Line: f.Line, Column: f.Column, Path: f.Path,
		Capability: f.Capability, Code: f.Code, Limit: f.Limit, Bound: f.Bound, Trace: f.Trace,
	}
}

// failureAnswer tells of a failure. A receipt without an execution belongs to
// a call that never began and is left out.
func failureAnswer(f fault.Fault, receipt runtime.Receipt) Answer {
	return failedExecution(f, runtime.Execution{Receipt: receipt})
}

// failedExecution tells of the failure of x.
func failedExecution(f fault.Fault, x runtime.Execution) Answer {
	receipt := x.Receipt
	body := failure{Error: bodyOf(f), Prints: printsOf(x.Prints)}
	if receipt.Execution != "" {
		body.Receipt = fold(receipt)
	}
	content, err := encode(body)
	if err != nil { // strings and integers always encode
		content = json.RawMessage(`{"error":{"class":"internal_failure","message":"internal failure"}}`)
	}
	return Answer{Content: content, Class: f.Class}
}

// withCalls makes the calls an array: a client that checks the schema refuses
// null.
func withCalls(r runtime.Receipt) runtime.Receipt {
	if r.Calls == nil {
		r.Calls = []runtime.CallRecord{}
	}
	return r
}

// encode writes v without escaping <, > and &, which would lengthen the texts
// that models read.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("mcpserver: answer: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
