// Package metrics reads what bin/workspace answers under /metrics with the
// parser of Prometheus itself. It stands in the tools module because that
// parser does; it must never know more of capgen than bin/workspace.
package metrics

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

var serving = regexp.MustCompile(`msg="serving MCP".* url=(\S+).* metrics=(\S+)`)

// serve starts bin/workspace, and returns its endpoint and where its metrics
// are.
func serve(t *testing.T) (endpoint, metrics string) {
	t.Helper()
	const workspace = "../../bin/workspace"
	if _, err := os.Stat(workspace); err != nil {
		t.Skip("bin/workspace is not built: run make metrics")
	}
	c := exec.Command(workspace, "http", "--root", ".", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
		<-read
		_ = c.Wait()
	})
	found := make(chan []string, 1)
	go func() {
		defer close(read)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if m := serving.FindStringSubmatch(lines.Text()); m != nil {
				found <- m
			}
		}
	}()
	select {
	case m := <-found:
		return m[1], m[2]
	case <-read:
		t.Fatal("it ended before it served")
	case <-time.After(time.Minute):
		t.Fatal("it does not serve")
	}
	return "", ""
}

// call calls execute in the era without sessions.
func call(t *testing.T, endpoint, source string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":{"source":"` + source + `"},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequest("POST", endpoint, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "execute",
	} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s %v", answer.StatusCode, text, err)
	}
}

func TestPrometheusReadsMetrics(t *testing.T) {
	endpoint, metrics := serve(t)
	call(t, endpoint, "1 + 1")
	call(t, endpoint, "2 + 2")
	call(t, endpoint, "1 / 0")
	answer, err := http.Get(metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if format := expfmt.ResponseFormat(answer.Header); format.FormatType() != expfmt.TypeTextPlain {
		t.Errorf("the type of the answer is %s", format)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]dto.MetricType{
		"capgen_http_requests_total":        dto.MetricType_COUNTER,
		"capgen_http_requests_in_flight":    dto.MetricType_GAUGE,
		"capgen_mcp_sessions":               dto.MetricType_GAUGE,
		"capgen_tool_calls_total":           dto.MetricType_COUNTER,
		"capgen_tool_call_duration_seconds": dto.MetricType_HISTOGRAM,
	} {
		if f := families[name]; f == nil || f.GetType() != want || f.GetHelp() == "" {
			t.Errorf("%s is %v, want a %s with a help text", name, f, want)
		}
	}
	counts := map[string]float64{}
	for _, m := range families["capgen_tool_calls_total"].GetMetric() {
		counts[labels(m)] = m.GetCounter().GetValue()
	}
	if counts["outcome=ok tool=execute"] != 2 || counts["outcome=tool_error tool=execute"] != 1 || len(counts) != 2 {
		t.Errorf("calls: %v", counts)
	}
	for _, m := range families["capgen_tool_call_duration_seconds"].GetMetric() {
		h := m.GetHistogram()
		if float64(h.GetSampleCount()) != counts[labels(m)] || h.GetSampleSum() <= 0 {
			t.Errorf("%s took %v s in %d calls", labels(m), h.GetSampleSum(), h.GetSampleCount())
		}
		last := uint64(0)
		for _, b := range h.GetBucket() {
			if b.GetCumulativeCount() < last {
				t.Errorf("%s: bucket %v holds less than the one before", labels(m), b.GetUpperBound())
			}
			last = b.GetCumulativeCount()
		}
		if len(h.GetBucket()) < 2 || last != h.GetSampleCount() {
			t.Errorf("%s: the last bucket holds %d of %d", labels(m), last, h.GetSampleCount())
		}
	}
}

// labels of a metric that has these two.
func labels(m *dto.Metric) string {
	found := map[string]string{}
	for _, l := range m.GetLabel() {
		found[l.GetName()] = l.GetValue()
	}
	return "outcome=" + found["outcome"] + " tool=" + found["tool"]
}
