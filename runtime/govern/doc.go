// Package govern takes what a program asks for through plan, approval and
// landing: a program proposes, a person decides, and exactly what was decided
// lands, once, through any crash. It must never know a transport or a manifest,
// and it cannot make an approval: it only checks those that people signed.
//
// Generated code calls the functions of this package; a host gives it a
// [Service] and writes what the capability does:
//
//	func (h Handlers) Publish(ctx context.Context, in PublishInput) (govern.Change, error) {
//		return govern.Change{
//			Root: "strategies", Path: in.Name, Summary: "publish " + in.Name,
//			Files: []govern.File{{Path: "entry.py", Content: h.render(in)}},
//		}, nil
//	}
//
// That method only plans. What it returns is frozen in a plan, whose body is one
// canonical document: approvers sign its hash, and at landing every row that the
// database holds is compared with it. For an effect that no directory stands for,
// the handler takes an [Approved] value, which this package alone can make.
package govern
