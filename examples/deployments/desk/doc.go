// Package desk answers the capabilities of the example. It must never know who
// calls.
//
// What every deployment holds is in letters.go; destroy.go has the tag of the
// only one that holds what is in it.
//
//	d := desk.New()
//	text, err := d.Render(ctx, letters.RenderInput{Title: "welcome", Name: "Ada"})
package desk
