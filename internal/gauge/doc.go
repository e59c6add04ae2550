// Package gauge counts goroutines that somebody may wait for, for a while. It
// must never know what they do.
//
//	var late gauge.Gauge
//	late.Add()
//	go func() {
//		defer late.Done()
//		handle(ctx)
//	}()
//	if left := late.Drain(5 * time.Second); left > 0 {
//		return fmt.Errorf("%d still run", left)
//	}
package gauge
