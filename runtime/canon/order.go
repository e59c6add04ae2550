package canon

// CompareKeys orders member names as RFC 8785 section 3.2.3 does: by their
// UTF-16 code units. It returns a negative number, zero or a positive number.
//
// For valid UTF-8 that is the order of the bytes with one exception: the
// characters above U+FFFF, which UTF-16 writes as surrogates, come before
// U+E000…U+FFFF.
func CompareKeys(a, b string) int {
	if a != "" && b != "" && a[0] != b[0] && a[0]|b[0] < 0x80 {
		return int(a[0]) - int(b[0])
	}
	n := min(len(a), len(b))
	for i := 0; i < n; i++ {
		if a[i] != b[i] {
			return int(codeUnitRank(a[i])) - int(codeUnitRank(b[i]))
		}
	}
	return len(a) - len(b)
}

// codeUnitRank moves the leading bytes of U+E000…U+FFFF (0xEE, 0xEF) behind
// those of the characters above U+FFFF.
func codeUnitRank(c byte) uint16 {
	if c == 0xEE || c == 0xEF {
		return 0x100 + uint16(c)
	}
	return uint16(c)
}
