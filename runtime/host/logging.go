package host

import (
	"fmt"
	"io"
	"log/slog"
)

// newLogger makes the logger that level and format ask for. An empty level is
// the command's own default.
func newLogger(w io.Writer, c config, command string) (*slog.Logger, error) {
	level := slog.LevelWarn // a local command's own output is what the user reads
	if command == "stdio" || command == "http" {
		level = slog.LevelInfo
	}
	switch c.logLevel {
	case "":
	case "debug":
		level = slog.LevelDebug
	case "info":
		level = slog.LevelInfo
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	default:
		return nil, fmt.Errorf("log level %q: use debug, info, warn or error", c.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch c.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, fmt.Errorf("log format %q: use text or json", c.logFormat)
}
