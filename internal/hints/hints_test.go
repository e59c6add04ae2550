package hints

import "testing"

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		effect, idempotency, world string
		want                       Hints
	}{
		{"read", "natural", "closed", Hints{ReadOnly: true, Idempotent: true}},
		{"read", "none", "open", Hints{ReadOnly: true, Idempotent: true, OpenWorld: true}},
		{"write", "key", "closed", Hints{Idempotent: true}},
		{"write", "none", "closed", Hints{}},
		{"destroy", "natural", "closed", Hints{Destructive: true, Idempotent: true}},
		{"run", "key", "closed", Hints{Destructive: true, Idempotent: true}},
		{"", "", "", Hints{Destructive: true, OpenWorld: true}},
	} {
		if got := Of(tt.effect, tt.idempotency, tt.world); got != tt.want {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
}

func TestJoin(t *testing.T) {
	harmless := Hints{ReadOnly: true, Idempotent: true}
	if got := harmless.Join(harmless); got != harmless {
		t.Errorf("%+v", got)
	}
	if got, want := harmless.Join(Hints{Destructive: true, OpenWorld: true}), (Hints{Destructive: true, OpenWorld: true}); got != want {
		t.Errorf("%+v", got)
	}
}
