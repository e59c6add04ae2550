//go:build capgen_default

package desk

import (
	"context"

	"github.com/capgen/capgen/examples/deployments/generated/furnace"
	"github.com/capgen/capgen/examples/deployments/generated/letters"
	"github.com/capgen/capgen/examples/deployments/generated/types"
)

// jam stands for everything that only this handler has.
const jam = "a clip in the blades of the shredder"

// Shred is letters.shred.
func (d *Desk) Shred(_ context.Context, in letters.ShredInput) (letters.ShredOutput, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.letters[in.Title] == nil {
		return letters.ShredOutput{}, letters.ErrShredJammed.Because(jam)
	}
	delete(d.letters, in.Title)
	return letters.ShredOutput{Strips: 32}, nil
}

// Incinerate is furnace.incinerate.
func (d *Desk) Incinerate(context.Context, furnace.IncinerateInput) (types.Ashes, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	grams := int64(5 * len(d.letters))
	clear(d.letters)
	return types.Ashes{Grams: grams}, nil
}
