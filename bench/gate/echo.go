package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// echoArgument makes this program one that sends back what it reads.
const echoArgument = "echo"

func echo() {
	var b [64]byte
	for {
		n, err := syscall.Read(0, b[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			os.Exit(0)
		}
		syscall.Write(1, b[:n])
	}
}

// floor compares an execution of the pool with waking a process that only sends
// back one byte: no pool can be faster than that. Between two of either, the
// full host runs a program, as where it is compared.
func (b *bench) floor(ctx context.Context) (figures, error) {
	var in, out [2]int
	for _, pipe := range []*[2]int{&in, &out} {
		if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
			return figures{}, err
		}
	}
	childIn, childOut := os.NewFile(uintptr(in[0]), "in"), os.NewFile(uintptr(out[1]), "out")
	c := exec.CommandContext(ctx, "/proc/self/exe", echoArgument)
	c.Env = []string{"GOMAXPROCS=1"}
	c.Stdin, c.Stdout = childIn, childOut
	if err := c.Start(); err != nil {
		return figures{}, err
	}
	childIn.Close()
	childOut.Close()
	defer func() {
		syscall.Close(in[1])
		syscall.Close(out[0])
		c.Wait()
	}()
	var one [1]byte
	ask := func() (time.Duration, error) {
		began := time.Now()
		if _, err := syscall.Write(in[1], one[:]); err != nil {
			return 0, err
		}
		_, err := syscall.Read(out[0], one[:])
		return time.Since(began), err
	}
	var echoes, pool []time.Duration
	for range samples {
		for _, m := range []struct {
			measure func() (time.Duration, error)
			times   *[]time.Duration
		}{{ask, &echoes}, {func() (time.Duration, error) { return execute(ctx, b.pool, calling(0)) }, &pool}} {
			time.Sleep(between)
			if _, err := execute(ctx, b.full, calling(0)); err != nil {
				return figures{}, err
			}
			time.Sleep(between)
			took, err := m.measure()
			if err != nil {
				return figures{}, err
			}
			*m.times = append(*m.times, took)
		}
	}
	p, e := median(pool), median(echoes)
	return figures{float64(p), float64(e), fmt.Sprintf("%v of %v", p.Round(time.Microsecond), e.Round(time.Microsecond))}, nil
}
