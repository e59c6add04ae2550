package runtime

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// MaxPages is how many pages Pages reads.
const MaxPages = 10_000

// ErrEndlessPages is the error of Pages that do not end.
var ErrEndlessPages = errors.New("runtime: the pages have no end")

// Pages iterates over the items of page after page, as call answers them;
// generated code gives it a type. set puts a cursor into the input of the next
// call, get takes a page apart: its items, the next cursor, and whether there
// is one. It ends after the last page, or with an error: that of call, or
// ErrEndlessPages when a cursor comes back or MaxPages were read. The next page
// is read when all items of the one before were taken. Each use of the iterator
// begins anew; it may be used by several goroutines if call may.
func Pages[In, Out, Item any, Cursor comparable](
	ctx context.Context,
	call func(context.Context, In) (Out, error),
	in In,
	set func(*In, Cursor),
	get func(*Out) ([]Item, Cursor, bool),
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		in := in
		var none Item
		seen := map[Cursor]bool{}
		for range MaxPages {
			page, err := call(ctx, in)
			if err != nil {
				yield(none, err)
				return
			}
			items, cursor, more := get(&page)
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			switch {
			case !more:
				return
			case seen[cursor]:
				yield(none, fmt.Errorf("%w: cursor %v came back", ErrEndlessPages, cursor))
				return
			}
			seen[cursor] = true
			set(&in, cursor)
		}
		yield(none, fmt.Errorf("%w: %d were read", ErrEndlessPages, MaxPages))
	}
}
