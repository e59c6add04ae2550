package python

import "strings"

// text reads one literal or several that stand side by side.
func (p *parser) text() Expr {
	at := At{p.cur().pos}
	if p.cur().kind == bytesLiteral {
		return p.bytes(at)
	}
	var parts []Expr
	formatted := false
	for {
		t := p.cur()
		switch t.kind {
		case stringLiteral:
			p.next++
			parts = append(parts, &Str{At{t.pos}, t.text})
			continue
		case fstringStart:
			formatted = true
			p.next++
			parts = p.fstringParts(parts, fstringEnd)
			p.next++
			continue
		case bytesLiteral:
			p.fail(t.pos, "", "cannot mix bytes and nonbytes literals")
		}
		break
	}
	if formatted {
		return &JoinedStr{at, parts}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(part.(*Str).Value)
	}
	return &Str{at, b.String()}
}

func (p *parser) bytes(at At) Expr {
	var b strings.Builder
	for p.cur().kind == bytesLiteral {
		b.WriteString(p.cur().text)
		p.next++
	}
	if t := p.cur(); t.kind == stringLiteral || t.kind == fstringStart {
		p.fail(t.pos, "", "cannot mix bytes and nonbytes literals")
	}
	return &Bytes{at, b.String()}
}

// fstringParts reads texts and fields up to the end of the string, or, in a
// format, up to the brace that closes its field.
func (p *parser) fstringParts(parts []Expr, end kind) []Expr {
	for {
		t := p.cur()
		switch {
		case t.kind == fstringText:
			p.next++
			parts = append(parts, &Str{At{t.pos}, t.text})
		case t.is(operator, "{"):
			parts = append(parts, p.field())
		case t.kind == end, end == operator && t.is(operator, "}"):
			return parts
		default:
			p.fail(t.pos, "", "f-string: invalid syntax%s", p.found())
		}
	}
}

// field reads `{expression!conversion:format}`.
func (p *parser) field() Expr {
	p.enter()
	defer p.leave()
	f := &FormattedValue{At: At{p.cur().pos}}
	open := p.cur()
	p.next++
	if p.op("}") || p.op("!") || p.op(":") || p.op("=") {
		p.fail(f.Pos, "write {{ and }} for braces", "f-string: valid expression required before '%s'", p.cur().text)
	}
	f.Value = p.starList()
	if s, ok := f.Value.(*Starred); ok {
		p.fail(s.Pos, "", "f-string: cannot use starred expression here")
	}
	if p.take("=") {
		f.Debug = p.source[open.end:p.cur().start]
	}
	if p.take("!") {
		c := p.cur()
		if c.kind != name || c.text != "r" && c.text != "s" && c.text != "a" {
			p.fail(c.pos, "write !r, !s or !a", "f-string: invalid conversion character")
		}
		f.Conversion = c.text[0]
		p.next++
	}
	if p.take(":") {
		f.Format = p.fstringParts([]Expr{}, operator)
	}
	p.expect("}", "a format stands behind a colon: {value:.2f}")
	return f
}
