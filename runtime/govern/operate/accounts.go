package operate

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxAccounts bounds how many accounts candidates can have.
const maxAccounts = 65_536

// accountRange is the value of a flag, FIRST-LAST: accounts by their numbers.
// The zero value is none.
type accountRange struct{ first, n int }

func (r *accountRange) String() string { return "" }

func (r *accountRange) Set(text string) error {
	from, to, ok := strings.Cut(text, "-")
	first, err := strconv.ParseUint(from, 10, 32)
	last, err2 := strconv.ParseUint(to, 10, 32)
	switch {
	case !ok || err != nil || err2 != nil:
		return errors.New("expected FIRST-LAST, two numbers of accounts")
	case first == 0:
		return errors.New("0 is root, and confines nothing")
	case last < first || last-first >= maxAccounts:
		return fmt.Errorf("expected 1 to %d accounts", maxAccounts)
	case last >= math.MaxUint32:
		return fmt.Errorf("%d is the number of no account", uint32(math.MaxUint32))
	}
	*r = accountRange{int(first), int(last-first) + 1}
	return nil
}

// has tells whether an account is one of them.
func (r accountRange) has(uid int) bool { return uid >= r.first && uid < r.first+r.n }

// text is the value as Set takes it.
func (r accountRange) text() string { return fmt.Sprintf("%d-%d", r.first, r.first+r.n-1) }
