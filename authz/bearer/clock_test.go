package bearer

import (
	"crypto"
	"testing"
	"time"
)

// A clock that is set forward ends tokens early, one that is set back refuses
// those that it takes for not yet issued, and neither lets a token live longer
// than its issuer said, by the clock that is right. A clock that is set right
// again makes all good: nothing was kept of the wrong one.
func TestClockSteps(t *testing.T) {
	issuer := newServer(t)
	issuer.put(map[string]crypto.Signer{"ec": made().ec})
	v := verifier(t, issuer)
	c := clocked(v)
	claims := goodClaims(issuer.url)
	issued := c.Now().Unix()
	claims = with(claims, "iat", issued, "nbf", issued, "exp", issued+600)
	good := token(t, goodHeader(), claims)
	for _, tt := range []struct {
		step time.Duration
		want string
	}{
		{0, "good"},
		{time.Hour, "refused"},  // after its exp
		{-time.Hour, "good"},    // right again
		{-time.Hour, "refused"}, // before its iat
		{time.Hour, "good"},
		{-20 * time.Second, "good"}, // within the leeway
		{20 * time.Second, "good"},
		{48 * time.Hour, "refused"}, // keys are long forgotten, too
		{-48 * time.Hour, "good"},
	} {
		c.advance(tt.step)
		if got := judge(v, good); got != tt.want {
			t.Errorf("after a step of %v: %s, want %s", tt.step, got, tt.want)
		}
	}
	// By a clock that is an hour behind, a token of a right one comes from the
	// future; one of an issuer that is behind as well is judged as ever.
	c.advance(-time.Hour)
	behind := c.Now().Unix()
	if got := judge(v, token(t, goodHeader(), with(claims, "iat", behind, "nbf", behind, "exp", behind+600))); got != "good" {
		t.Errorf("an issuer as far behind: %s", got)
	}
}
