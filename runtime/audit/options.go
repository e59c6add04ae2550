package audit

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// Options of a Log. Dir and Key have no default.
type Options struct {
	// Dir holds the files of one log, and nothing else: an absolute path. It
	// is made, for this user alone, if it is not there. One process writes to
	// it at a time; processes that share load have a log each.
	Dir string
	// Key makes the fingerprints of arguments.
	Key Key
	// Values tells of which capabilities, by id, arguments are written down as
	// they are, up to 64 KiB a call; longer ones are left out. Nil is none.
	Values func(capability string) bool
	// MaxFileBytes and MaxFileAge bound one file: then another is begun, and
	// the chain goes on in it. Zero is 64 MiB and 24 hours. Nothing removes
	// files.
	MaxFileBytes int64
	MaxFileAge   time.Duration
	// SyncEach has each record on the disk before Record returns. Without it
	// a record survives the end of the process at once, and a loss of power
	// within about a second.
	SyncEach bool
	// Continue lets calls go on that cannot be recorded, as on a full disk.
	// The next record that can be written says how many are missing. Without
	// it such calls are refused.
	Continue bool
	// SigningKey is an encoded signer key of golang.org/x/mod/sumdb/note
	// (GenerateKey makes one), and Heads gets what it signs: within a second
	// after HeadEvery records (zero is 1,000) or, where there are new ones,
	// HeadInterval (zero is a minute), and at the end. Both are set, or none.
	SigningKey   string
	Heads        HeadSink
	HeadEvery    int
	HeadInterval time.Duration
	// Logger gets what goes wrong beside the path of a call; nil discards it.
	Logger *slog.Logger
}

// Defaults of Options.
const (
	DefaultMaxFileBytes = 64 << 20
	DefaultMaxFileAge   = 24 * time.Hour
	DefaultHeadEvery    = 1000
	DefaultHeadInterval = time.Minute
)

// minFileBytes leaves room for the first record of a file, and one of a call.
const minFileBytes = 1 << 10

func (o Options) withDefaults() (Options, note.Signer, error) {
	var problems []error
	if !filepath.IsAbs(o.Dir) {
		problems = append(problems, errors.New("audit: Dir is no absolute path"))
	}
	if err := o.Key.Check(); err != nil {
		problems = append(problems, err)
	}
	if o.MaxFileBytes == 0 {
		o.MaxFileBytes = DefaultMaxFileBytes
	}
	if o.MaxFileAge == 0 {
		o.MaxFileAge = DefaultMaxFileAge
	}
	if o.HeadEvery == 0 {
		o.HeadEvery = DefaultHeadEvery
	}
	if o.HeadInterval == 0 {
		o.HeadInterval = DefaultHeadInterval
	}
	if o.MaxFileBytes < minFileBytes || o.MaxFileAge < 0 || o.HeadEvery < 0 || o.HeadInterval < 0 {
		problems = append(problems, fmt.Errorf("audit: a bound is negative, or MaxFileBytes below %d", minFileBytes))
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var signer note.Signer
	switch {
	case (o.SigningKey == "") != (o.Heads == nil):
		problems = append(problems, errors.New("audit: SigningKey and Heads are set both, or none"))
	case o.SigningKey != "":
		var err error
		if signer, err = note.NewSigner(o.SigningKey); err != nil {
			problems = append(problems, errors.New("audit: SigningKey is no signer key")) // the error might show it
		}
	}
	return o, signer, errors.Join(problems...)
}
