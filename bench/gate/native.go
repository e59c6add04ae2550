package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nativeCall runs runtime.BenchmarkNativeCall, whose control is inside of the
// package, and compares its medians.
func (b *bench) nativeCall(ctx context.Context) (figures, error) {
	command := exec.CommandContext(ctx, "go", "test", "./runtime", "-run", "^$", "-bench", "^BenchmarkNativeCall$/^(worker|in-process)$", "-count", "5", "-benchtime", "20000x")
	out, err := command.CombinedOutput()
	if err != nil {
		return figures{}, fmt.Errorf("%w: %s", err, out)
	}
	times := map[string][]time.Duration{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || fields[3] != "ns/op" {
			continue
		}
		_, name, _ := strings.Cut(fields[0], "/")
		ns, err := strconv.ParseFloat(fields[2], 64)
		if err != nil {
			return figures{}, err
		}
		times[name] = append(times[name], time.Duration(ns))
	}
	var worker, control []time.Duration
	for name, list := range times {
		if strings.HasPrefix(name, "worker") {
			worker = list
		} else {
			control = list
		}
	}
	if len(worker) == 0 || len(control) == 0 {
		return figures{}, fmt.Errorf("no figures in: %s", out)
	}
	w, c := median(worker), median(control)
	return figures{float64(w), float64(c), fmt.Sprintf("%v of %v", w, c)}, nil
}

// median sorts the list.
func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
