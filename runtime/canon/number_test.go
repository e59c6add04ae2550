package canon

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What ECMA-262 Number::toString makes of some doubles, by bit pattern: the
// ends of the ranges, the neighbours of powers of two and ten, and the points
// where the notation changes.
func TestNumberSamples(t *testing.T) {
	tests := []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x000fffffffffffff, "2.225073858507201e-308"},
		{0x0010000000000000, "2.2250738585072014e-308"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x433fffffffffffff, "9007199254740991"},
		{0x4340000000000001, "9007199254740994"},
		{0x4430000000000000, "295147905179352830000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x4415af1d78b58c40, "100000000000000000000"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x3e7ad7f29abcaf48, "1e-7"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x3fb999999999999a, "0.1"},
		{0x3fd3333333333334, "0.30000000000000004"},
		{0x3ff0000000000001, "1.0000000000000002"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
	}
	for _, tt := range tests {
		f := math.Float64frombits(tt.bits)
		got := string(appendNumber(nil, f))
		if got != tt.want {
			t.Errorf("%#016x: got %s, want %s", tt.bits, got, tt.want)
		}
		if spec := ecmaNumber(f); got != spec {
			t.Errorf("%#016x: got %s, the algorithm gives %s", tt.bits, got, spec)
		}
	}
	for text, want := range map[string]string{
		"9007199254740993":                  "9007199254740992",
		"333333333.33333329":                "333333333.3333333",
		"1e21":                              "1e+21",
		"1e-7":                              "1e-7",
		"0.000001":                          "0.000001",
		"4.50":                              "4.5",
		"2e-3":                              "0.002",
		"0.000000000000000000000000001":     "1e-27",
		"123456789012345678901":             "123456789012345680000",
		"1.7976931348623157e308":            "1.7976931348623157e+308",
		"4.9406564584124654417656879e-324":  "5e-324",
		"100000000000000000000000000000e-8": "1e+21",
	} {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendNumber(nil, f)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// ecmaNumber follows ECMA-262 Number::toString step by step from the digits
// and the exponent.
func ecmaNumber(f float64) string {
	if f == 0 {
		return "0"
	}
	if f < 0 {
		return "-" + ecmaNumber(-f)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	e, _ := strconv.Atoi(exponent)
	k, n := len(digits), e+1
	switch {
	case k <= n && n <= 21:
		return digits + strings.Repeat("0", n-k)
	case 0 < n && n <= 21:
		return digits[:n] + "." + digits[n:]
	case -6 < n && n <= 0:
		return "0." + strings.Repeat("0", -n) + digits
	}
	sign := "+"
	if n-1 < 0 {
		sign = "-"
	}
	text := digits[:1]
	if k > 1 {
		text += "." + digits[1:]
	}
	return text + "e" + sign + strconv.Itoa(max(n-1, 1-n))
}

func TestNumberAgainstAlgorithm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	check := func(f float64) {
		got := string(appendNumber(nil, f))
		if want := ecmaNumber(f); got != want {
			t.Fatalf("%v: got %s, want %s", f, got, want)
		}
		if back, err := strconv.ParseFloat(got, 64); err != nil || back != f {
			t.Fatalf("%v: %s reads back as %v, %v", f, got, back, err)
		}
	}
	for range 100_000 {
		if f := math.Float64frombits(rng.Uint64()); isFinite(f) {
			check(f)
		}
		check(float64(rng.Int64N(1<<54)) * math.Pow10(rng.IntN(40)-30))
	}
}

func TestParseInteger(t *testing.T) {
	tests := []struct {
		text   string
		want   int64
		status integerStatus
	}{
		{"0", 0, integerExact}, {"-0", 0, integerExact}, {"0.000", 0, integerExact},
		{"0e999999999999999999999", 0, integerExact}, {"0.0e-99", 0, integerExact},
		{"1.0", 1, integerExact}, {"1e2", 100, integerExact}, {"1E+2", 100, integerExact},
		{"100e-2", 1, integerExact}, {"120e-1", 12, integerExact}, {"1.25e2", 125, integerExact},
		{"-12.500e1", -125, integerExact}, {"0.001e3", 1, integerExact},
		{"1.000000000000000000000000000000000000", 1, integerExact},
		{"10000000000000000000000000000e-28", 1, integerExact},
		{"9223372036854775807", math.MaxInt64, integerExact},
		{"-9223372036854775808", math.MinInt64, integerExact},
		{"9223372036854775.807e3", math.MaxInt64, integerExact},
		{"9223372036854775808", 0, integerTooLarge},
		{"-9223372036854775809", 0, integerTooLarge},
		{"9999999999999999999", 0, integerTooLarge},
		{"18446744073709551616", 0, integerTooLarge},
		{"1e19", 0, integerTooLarge}, {"1e400", 0, integerTooLarge},
		{"-1e999999999", 0, integerTooLarge},
		{"1e99999999999999999999999999999999", 0, integerTooLarge},
		{"1.5", 0, integerFraction}, {"1e-1", 0, integerFraction}, {"12.5e0", 0, integerFraction},
		{"1e-999999999", 0, integerFraction}, {"1.25e1", 0, integerFraction},
		{"1e-99999999999999999999999999999999", 0, integerFraction},
		{"9223372036854775807.5", 0, integerFraction},
	}
	for _, tt := range tests {
		got, status := parseInteger([]byte(tt.text))
		if got != tt.want || status != tt.status {
			t.Errorf("%s: got %d (%d), want %d (%d)", tt.text, got, status, tt.want, tt.status)
		}
	}
}

// The oracle is exact rational arithmetic.
func TestParseIntegerAgainstRationals(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50_000 {
		text := randomNumber(rng)
		if _, _, ok := scanNumber([]byte(text), 0); !ok {
			t.Fatalf("%s is no number", text)
		}
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		got, status := parseInteger([]byte(text))
		want := integerExact
		switch {
		case !x.IsInt():
			want = integerFraction
		case !x.Num().IsInt64():
			want = integerTooLarge
		}
		if status != want || want == integerExact && got != x.Num().Int64() {
			t.Fatalf("%s: got %d (%d), want %s (%d)", text, got, status, x, want)
		}
	}
}

func randomNumber(rng *rand.Rand) string {
	digits := func(n int) string {
		b := make([]byte, 1+rng.IntN(n))
		for i := range b {
			b[i] = '0' + byte(rng.IntN(10))
			if rng.IntN(2) == 0 {
				b[i] = '0'
			}
		}
		return string(b)
	}
	var b strings.Builder
	if rng.IntN(3) == 0 {
		b.WriteByte('-')
	}
	whole := strings.TrimLeft(digits(20), "0")
	if whole == "" {
		whole = "0"
	}
	b.WriteString(whole)
	if rng.IntN(2) == 0 {
		b.WriteString("." + digits(12))
	}
	if rng.IntN(2) == 0 {
		b.WriteString("e" + strconv.Itoa(rng.IntN(41)-20))
	}
	return b.String()
}

func TestMultipleOf(t *testing.T) {
	tests := []struct {
		v, n float64
		want bool
	}{
		{0, 0.1, true}, {0.3, 0.1, true}, {0.35, 0.1, false}, {-0.3, 0.1, true},
		{19.99, 0.01, true}, {19.995, 0.01, false}, {1.1, 1.1, true}, {4.02, 0.01, true},
		{1e308, 0.1, true}, {1e308, 0.3, false}, {1e308, 7, false}, {1.7976931348623157e308, 5e-324, true},
		{1e308, 3e-308, false}, {3e300, 3e-300, true},
		{5e-324, 5e-324, true}, {5e-324, 1, false}, {1e-300, 1e300, false}, {0.5, 1e308, false},
		{1e22, 1e21, true}, {1e21, 1e22, false}, {6, 4, false}, {8, 4, true},
		{9007199254740991, 2, false}, {9007199254740992, 2, true},
		{7, -7, true}, {1, 0, false}, {0, 0, false}, {1, math.Inf(1), false}, {1, math.NaN(), false},
		{math.Inf(1), 1, false}, {math.NaN(), 1, false},
		{math.Inf(1), math.Inf(1), false}, {math.NaN(), math.NaN(), false},
	}
	for _, tt := range tests {
		if got := isMultiple(tt.v, tt.n); got != tt.want {
			t.Errorf("isMultiple(%v, %v) = %v", tt.v, tt.n, got)
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		n := float64(1+rng.IntN(500)) * math.Pow10(rng.IntN(20)-10)
		v := float64(rng.Int64N(1<<50)) * math.Pow10(rng.IntN(40)-20)
		if rng.IntN(2) == 0 {
			v, _ = strconv.ParseFloat(strconv.FormatFloat(n*float64(rng.IntN(1000)), 'g', 12, 64), 64)
		}
		q := new(big.Rat).Quo(shortest(t, v), shortest(t, n))
		if got := isMultiple(v, n); got != q.IsInt() {
			t.Fatalf("isMultiple(%v, %v) = %v, the quotient is %s", v, n, got, q)
		}
	}
}

func shortest(t *testing.T, f float64) *big.Rat {
	x, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
	if !ok {
		t.Fatal(f)
	}
	return x
}

// Hostile numbers must cost no more than their bytes. The bound is generous:
// a giant integer built once would take minutes.
func TestNumberWorkIsBounded(t *testing.T) {
	long := strings.Repeat("9", 1<<20)
	texts := []string{
		"1e999999999", "1e-999999999", "-1e2147483648", "1e9223372036854775808", long, "0." + long,
		long + "e-1048575", "1e" + long, "0." + strings.Repeat("0", 1<<20) + "1e1048577",
	}
	start := time.Now()
	for _, text := range texts {
		for _, decode := range []func(*Reader){
			func(r *Reader) { r.Int(math.MinInt64, math.MaxInt64) },
			func(r *Reader) { r.Float() },
			func(r *Reader) { r.Skip() },
			func(r *Reader) { r.RawNumber() },
		} {
			r := NewJSONReader([]byte(text), 1)
			decode(r)
			if err := r.End(); err != nil && len(err.Error()) > 300 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
		}
	}
	for _, v := range []float64{1e308, 5e-324, math.MaxFloat64} {
		for _, n := range []float64{0.1, 5e-324, 1e308, 1e-307} {
			isMultiple(v, n)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
