package repotest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

const parityFile = "docs/reference/parity.md"

// rows are all rows of the two parity lists: A is the code-mode runtime and
// its server template, B governed changes and runs. "→" is the part of a row
// in which we mean to be better, "A+" what peers have and the ancestors lack.
func rows() []string {
	var out []string
	for i := 1; i <= 40; i++ {
		out = append(out, fmt.Sprintf("A%d", i))
		if slices.Contains([]int{1, 5, 8, 9, 13, 15, 19, 20, 23, 25, 27, 28, 29, 30, 31, 36}, i) {
			out = append(out, fmt.Sprintf("A%d→", i))
		}
	}
	for _, more := range []string{
		"caught failures", "parallel calls", "returned logs", "data", "check", "batched describe", "nearest names", "imports", "approvals", "metrics", "direct tools",
	} {
		out = append(out, "A+ "+more)
	}
	for i := 1; i <= 15; i++ {
		out = append(out, fmt.Sprintf("B1.%d", i))
	}
	for _, tool := range []string{
		"doctor", "inspect_dataset", "register_dataset", "register_local_dataset", "preview_dataset", "derive_tabular_dataset",
		"get_catalog_snapshot", "search_strategy_catalog", "refresh_strategy_catalog", "inspect_strategy", "list_strategy_templates",
		"create_strategy_draft", "validate_strategy_spec", "get_strategy_draft", "update_strategy_draft", "validate_strategy_draft", "apply_strategy_repair",
		"list_target_tree", "prepare_strategy_changes", "apply_strategy_changes",
		"prepare_strategy_run", "start_strategy_run", "get_run_status", "cancel_strategy_run", "get_run_result", "list_jobs", "get_run_logs",
		"compare_strategy_runs", "render_strategy_report", "audit_independence",
	} {
		out = append(out, "B1.2 "+tool)
	}
	out = append(out, "B2.1")
	for i := 1; i <= 18; i++ {
		out = append(out, fmt.Sprintf("B2.2 %d", i))
	}
	return out
}

var (
	parityRow = regexp.MustCompile(`^\| ([AB][\d+][^|]*?) \| ([^|]*?) \| ([^|]*?) \| ?([^|]*?) ?\|$`)
	waitsFor  = regexp.MustCompile(`^waits for ([B-I]|the backtest example|a later part)$`)
	// package.TestName, the package by its folder
	testName = regexp.MustCompile("`([a-z][a-z0-9_/]*)\\.((?:Test|Fuzz|Benchmark|Example)[A-Za-z0-9_]*)`")
)

// parityLines: each row of both lists has one line, each line a status that is
// one of the four, each claim a test that exists.
func parityLines(tr *tree) []string {
	var out []string
	seen := map[string]bool{}
	for _, line := range strings.Split(tr.read(parityFile), "\n") {
		m := parityRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		row, status, shown := m[1], m[3], m[4]
		if seen[row] {
			out = append(out, row+": twice")
			continue
		}
		seen[row] = true
		names := testName.FindAllStringSubmatch(shown, -1)
		switch {
		case status == "works" || status == "better":
			if len(names) == 0 {
				out = append(out, fmt.Sprintf("%s: %s, but names no test", row, status))
			}
		case status == "dropped":
			if shown == "" {
				out = append(out, row+": dropped without a reason")
			}
		case !waitsFor.MatchString(status):
			out = append(out, fmt.Sprintf("%s: status %q", row, status))
		}
		for _, n := range names {
			if !tr.hasTest(n[1], n[2]) {
				out = append(out, fmt.Sprintf("%s: %s has no %s", row, n[1], n[2]))
			}
		}
	}
	return append(out, missingRows(keys(seen)...)...)
}

func keys(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

func missingRows(have ...string) []string {
	var out []string
	for _, r := range rows() {
		if !slices.Contains(have, r) {
			out = append(out, r+": no line in "+parityFile)
		}
	}
	for _, r := range have {
		if !slices.Contains(rows(), r) {
			out = append(out, r+": not a row of the lists")
		}
	}
	return out
}

func (tr *tree) hasTest(dir, name string) bool {
	decl := regexp.MustCompile(`(?m)^func ` + name + `\(`)
	return slices.ContainsFunc(tr.files, func(file string) bool {
		return path.Dir(file) == dir && strings.HasSuffix(file, "_test.go") && decl.MatchString(tr.read(file))
	})
}
