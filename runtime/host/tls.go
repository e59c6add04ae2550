package host

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificateEvery is how often the files of a certificate are looked at, at
// most: handshakes come often.
const certificateEvery = 5 * time.Second

// certificateFiles is the pair of two files as they are: who renews it replaces the
// files. A pair that cannot be used, because one of them is still the old one
// for instance, leaves the last good one in place.
type certificateFiles struct {
	cert, key string // files
	log       *slog.Logger
	now       func() time.Time

	mu     sync.Mutex
	looked time.Time
	seen   [2]stamp // of the files of the last try
	pair   *tls.Certificate
}

// stamp tells a file from another that takes its place.
type stamp struct {
	modified time.Time
	size     int64
}

func stampOf(name string) (stamp, error) {
	info, err := os.Stat(name)
	if err != nil {
		return stamp{}, err
	}
	if !info.Mode().IsRegular() {
		return stamp{}, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	return stamp{info.ModTime(), info.Size()}, nil
}

// readTLS is nil where no files are named.
func readTLS(f httpFlags, log *slog.Logger) (*tls.Config, error) {
	switch {
	case f.tlsCert == "" && f.tlsKey == "":
		return nil, nil
	case f.tlsCert == "" || f.tlsKey == "":
		return nil, errors.New("--tls-cert and --tls-key are only good together")
	}
	c := &certificateFiles{cert: f.tlsCert, key: f.tlsKey, log: log, now: time.Now}
	if err := c.read(); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}, nil
}

// get is for tls.Config.GetCertificate.
func (c *certificateFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.looked) >= certificateEvery || now.Before(c.looked) {
		if err := c.read(); err != nil {
			c.log.Error("the new certificate cannot be used, the last one stays", "error", err)
		}
	}
	return c.pair, nil
}

// read takes the files if they are others than at the last try.
func (c *certificateFiles) read() error {
	c.looked = c.now()
	var seen [2]stamp
	for i, name := range []string{c.cert, c.key} {
		var err error
		if seen[i], err = stampOf(name); err != nil {
			return err
		}
	}
	if c.pair != nil && seen == c.seen {
		return nil
	}
	c.seen = seen // before they are read: what is written meanwhile is another
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	if c.pair != nil {
		c.log.Info("a new certificate is served", "not_after", pair.Leaf.NotAfter)
	}
	c.pair = &pair
	return nil
}
