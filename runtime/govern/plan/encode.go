package plan

import (
	"bytes"
	"strconv"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/internal/form"
)

// version is of the form of bodies. Only a run has the member run: to a program
// that knows none its effect is unknown, and all other bodies are what they were.
const version = 1

// Encode is the plan's body, or [ErrInvalid].
func (p Plan) Encode() ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, 1024+len(p.Arguments)), `{"approval":`...)
	b = p.Policy.append(b)
	b = append(b, `,"arguments":`...)
	b = append(b, p.Arguments...)
	b = append(b, `,"capability":{"contract":`...)
	b = form.AppendHex(b, p.Contract[:])
	b = append(b, `,"effect":`...)
	b = canon.AppendString(b, string(p.Effect))
	b = append(b, `,"id":`...)
	b = canon.AppendString(b, p.Capability)
	b = append(b, `,"name":`...)
	b = canon.AppendString(b, p.Name)
	b = append(b, `},"change":`...)
	b = p.Change.append(b)
	b = append(b, `,"created":`...)
	b = form.AppendInstant(b, p.Created)
	b = append(b, `,"id":`...)
	b = canon.AppendString(b, p.ID)
	b = append(b, `,"key":`...)
	b = form.AppendHex(b, p.Key[:])
	b = append(b, `,"owner":`...)
	b = canon.AppendString(b, p.Owner)
	b = append(b, `,"preview":`...)
	if p.Preview == nil {
		b = append(b, "null"...)
	} else {
		b = form.AppendHex(b, p.Preview[:])
	}
	b = append(b, `,"requester":{"peer_uid":`...)
	if p.PeerUID == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendUint(b, uint64(*p.PeerUID), 10)
	}
	b = append(b, `,"server_uid":`...)
	b = strconv.AppendUint(b, uint64(p.ServerUID), 10)
	b = append(b, '}')
	if p.Run != nil {
		b = append(b, `,"run":`...)
		b = p.Run.append(b)
	}
	b = append(b, `,"separation":`...)
	b = canon.AppendString(b, string(p.Separation))
	b = append(b, `,"store":`...)
	b = canon.AppendString(b, p.Store)
	b = append(b, `,"ttl_us":`...)
	b = strconv.AppendInt(b, p.TTL.Microseconds(), 10)
	b = append(b, `,"v":`...)
	b = strconv.AppendInt(b, version, 10)
	b = append(b, '}')
	if len(b) > MaxBodyBytes {
		return nil, invalid("it has more than %d bytes", MaxBodyBytes)
	}
	return b, nil
}

func (p Policy) append(b []byte) []byte {
	b = append(b, `{"min":`...)
	b = strconv.AppendInt(b, int64(p.Min), 10)
	b = append(b, `,"self":"`...)
	if p.SelfAllowed {
		b = append(b, selfAllow...)
	} else {
		b = append(b, selfForbid...)
	}
	b = append(b, `","ttl_us":`...)
	b = strconv.AppendInt(b, p.TTL.Microseconds(), 10)
	return append(b, '}')
}

const selfAllow, selfForbid = "allow", "forbid"

func (c *Change) append(b []byte) []byte {
	if c == nil {
		return append(b, "null"...)
	}
	b = append(b, `{"path":`...)
	b = canon.AppendString(b, c.Path)
	b = append(b, `,"post":`...)
	b = form.AppendHex(b, c.Post[:])
	b = append(b, `,"pre":`...)
	b = form.AppendHex(b, c.Pre[:])
	b = append(b, `,"root":`...)
	b = canon.AppendString(b, c.Root)
	b = append(b, `,"summary":`...)
	b = canon.AppendString(b, c.Summary)
	return append(b, '}')
}

// Parse reads a body, strictly: errors match [ErrInvalid] and say where.
func Parse(body []byte) (Plan, error) {
	if len(body) > MaxBodyBytes {
		return Plan{}, invalid("it has more than %d bytes", MaxBodyBytes)
	}
	r := canon.NewJSONReader(body, maxDepth)
	p := decode(r, body)
	if err := r.End(); err != nil {
		return Plan{}, invalid("%w", err)
	}
	again, err := p.Encode()
	if err != nil {
		return Plan{}, err
	}
	// Whatever else could be spelt in two ways ends here.
	if !bytes.Equal(again, body) {
		return Plan{}, invalid("it is not in canonical form")
	}
	return p, nil
}

// decode reads the members. One that stands twice, or not at all, is found by
// the comparison with what Encode writes.
func decode(r *canon.Reader, body []byte) (p Plan) {
	form.Object(r, func(key string) {
		switch key {
		case "approval":
			p.Policy = decodePolicy(r)
		case "arguments":
			p.Arguments = skipped(r, body)
		case "capability":
			form.Object(r, func(key string) {
				switch key {
				case "contract":
					form.Hex(r, p.Contract[:])
				case "effect":
					p.Effect = Effect(r.Enum(string(EffectChange), string(EffectWrite), string(EffectDestroy), string(EffectRun)))
				case "id":
					p.Capability = r.String(1, maxText)
				case "name":
					p.Name = r.String(1, maxText)
				default:
					r.UnknownMember()
				}
			})
		case "change":
			p.Change = decodeChange(r)
		case "created":
			p.Created = form.Instant(r)
		case "id":
			p.ID = r.String(1, maxText)
		case "key":
			form.Hex(r, p.Key[:])
		case "owner":
			p.Owner = r.String(1, maxText)
		case "preview":
			if !r.Null() {
				p.Preview = new(cas.Digest)
				form.Hex(r, p.Preview[:])
			}
		case "requester":
			form.Object(r, func(key string) {
				switch key {
				case "peer_uid":
					if !r.Null() {
						uid := form.UID(r)
						p.PeerUID = &uid
					}
				case "server_uid":
					p.ServerUID = form.UID(r)
				default:
					r.UnknownMember()
				}
			})
		case "run":
			p.Run = decodeRun(r, body)
		case "separation":
			p.Separation = Separation(r.Enum(string(SeparationFull), string(SeparationPartial), string(SeparationUnknown), string(SeparationNone)))
		case "store":
			p.Store = r.String(1, maxText)
		case "ttl_us":
			p.TTL = form.Micros(r, MaxTTL)
		case "v":
			r.Int(version, version)
		default:
			r.UnknownMember()
		}
	})
	return p
}

// skipped is the text of a value, whatever it is.
func skipped(r *canon.Reader, body []byte) []byte {
	from := r.Offset()
	r.Skip()
	if r.Err() != nil {
		return nil
	}
	return bytes.Clone(body[from:r.Offset()])
}

func decodePolicy(r *canon.Reader) (p Policy) {
	form.Object(r, func(key string) {
		switch key {
		case "min":
			p.Min = int(r.Int(1, MaxApprovers))
		case "self":
			p.SelfAllowed = r.Enum(selfAllow, selfForbid) == selfAllow
		case "ttl_us":
			p.TTL = form.Micros(r, MaxTTL)
		default:
			r.UnknownMember()
		}
	})
	return p
}

func decodeChange(r *canon.Reader) *Change {
	if r.Null() {
		return nil
	}
	c := &Change{}
	form.Object(r, func(key string) {
		switch key {
		case "path":
			c.Path = r.String(1, MaxPathBytes)
		case "post":
			form.Hex(r, c.Post[:])
		case "pre":
			form.Hex(r, c.Pre[:])
		case "root":
			c.Root = r.String(1, maxText)
		case "summary":
			c.Summary = r.String(0, MaxSummaryBytes)
		default:
			r.UnknownMember()
		}
	})
	return c
}
