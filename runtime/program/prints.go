package program

import (
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// MaxPrintBytes bounds what is kept of what a program prints.
const MaxPrintBytes = 16 << 10

// Prints is what a program has printed.
type Prints struct {
	// Text is valid UTF-8, at most MaxPrintBytes long.
	Text string
	// Cut: there was more, which was dropped from the end, between runes.
	Cut bool
}

// prints keeps what a program prints, up to MaxPrintBytes, or hands it on.
type prints struct {
	to  func(text string) // nil where it is kept
	out strings.Builder
	cut bool
}

func (p *prints) write(text string) {
	if p == nil || p.cut {
		return
	}
	if p.to != nil {
		p.to(strings.ToValidUTF8(text, "?"))
		return
	}
	if room := MaxPrintBytes - p.out.Len(); len(text) > room {
		for room > 0 && !utf8.RuneStart(text[room]) {
			room--
		}
		text, p.cut = text[:room], true
	}
	p.out.WriteString(text)
}

func (p *prints) kept() (k Prints) {
	if p != nil {
		k = Prints{Text: strings.ToValidUTF8(p.out.String(), "?"), Cut: p.cut}
	}
	return k
}

// print writes where the host wants to see it. Where it does not, nobody sees
// what a program prints, and what would fail fails all the same.
func (e *engine) print(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	separator, end := " ", "\n"
	for _, pair := range kwargs {
		name, _ := starlark.AsString(pair[0])
		switch name {
		case "sep", "end":
			text, ok := pair[1].(starlark.String)
			switch {
			case !ok && pair[1] != starlark.None:
				return nil, raise("TypeError", "%s must be None or a string, not %s", name, className(pair[1]))
			case ok && name == "sep":
				separator = string(text)
			case ok:
				end = string(text)
			}
		case "file", "flush":
		default:
			return nil, raise("TypeError", "'%s' is an invalid keyword argument for print()", excerpt(name))
		}
	}
	texts := make([]string, len(args))
	for i, v := range args {
		var err error
		if texts[i], err = e.str(v); err != nil {
			return nil, err
		}
	}
	for i, text := range texts { // only now: a print that fails prints nothing
		if i > 0 {
			e.printed.write(separator)
		}
		e.printed.write(text)
	}
	e.printed.write(end)
	return starlark.None, e.charge(len(args))
}
