package bearer

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/scopes"
)

// strict refuses a token whose header or claims are read differently by
// different readers: with a member twice, with text that is not UTF-8, or with
// something behind (RFC 8725 section 2.4, RFC 7519 section 4).
func (v *Verifier) strict(token string) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("not three parts")
	}
	for i, what := range []string{"header", "claims"} {
		text, err := v.parser.DecodeSegment(parts[i])
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if value := jsontext.Value(text); !value.IsValid() || value.Kind() != '{' {
			return fmt.Errorf("%s: not a JSON object with each member once", what)
		}
	}
	return nil
}

// checkType refuses what is no access token (RFC 9068 section 4), and any
// extension that must be understood: none is (RFC 7515 section 4.1.11). Keys
// that a header brings, or points to, are never looked at.
func checkType(header map[string]any, claims jwt.MapClaims, plain bool) error {
	if _, ok := header["crit"]; ok {
		return errors.New("critical header parameters are not supported")
	}
	if kid, ok := header["kid"].(string); !ok || kid == "" {
		return errors.New("no kid")
	}
	typ, named := header["typ"]
	text, isText := typ.(string)
	switch {
	case named && !isText:
		return errors.New("typ is no text")
	case strings.EqualFold(text, "at+jwt"), strings.EqualFold(text, "application/at+jwt"):
		return nil
	case !plain || named && !strings.EqualFold(text, "JWT") && !strings.EqualFold(text, "application/jwt"):
		return errors.New("typ is not at+jwt")
	}
	for _, name := range []string{"nonce", "at_hash", "c_hash"} {
		if _, ok := claims[name]; ok {
			return errors.New("an ID token")
		}
	}
	return nil
}

// subjectOf is who a token is about.
func subjectOf(issuer string, claims jwt.MapClaims) (authz.Subject, error) {
	sub, ok := claims["sub"].(string)
	switch {
	case !ok || sub == "":
		return authz.Subject{}, errors.New("no sub")
	case len(sub) > MaxSubBytes:
		return authz.Subject{}, fmt.Errorf("sub has more than %d bytes", MaxSubBytes)
	case strings.ContainsFunc(sub, unicode.IsControl):
		return authz.Subject{}, errors.New("sub has a control character")
	}
	granted, err := scopesOf(claims)
	if err != nil {
		return authz.Subject{}, err
	}
	return authz.Subject{Kind: authz.KindOIDC, Issuer: issuer, ID: sub, Scopes: granted}, nil
}

// scopesOf are the scopes of scope (RFC 9068 section 2.2.3), and of scp, in
// which some providers send them, as an array or as scope is. A token with
// anything else there is refused, because it cannot be told what it grants.
func scopesOf(claims jwt.MapClaims) (authz.Scopes, error) {
	var names []string
	for _, claim := range []string{"scope", "scp"} {
		switch value := claims[claim].(type) {
		case string:
			set, err := scopes.Parse(value)
			if err != nil {
				return authz.Scopes{}, err
			}
			names = append(names, set.Names()...)
		case []any:
			if claim == "scope" {
				return authz.Scopes{}, errors.New("scope is no text")
			}
			for _, one := range value {
				name, ok := one.(string)
				if !ok {
					return authz.Scopes{}, errors.New("scp holds what is no text")
				}
				names = append(names, name)
			}
		default:
			if _, ok := claims[claim]; ok {
				return authz.Scopes{}, fmt.Errorf("%s is of another type", claim)
			}
		}
	}
	return scopes.Of(names...)
}

// checkCurve holds a signature to the curve of its algorithm (RFC 7518 section
// 3.4).
func checkCurve(method jwt.SigningMethod, key any) error {
	m, isMethod := method.(*jwt.SigningMethodECDSA)
	public, isKey := key.(*ecdsa.PublicKey)
	if isMethod && isKey && m.CurveBits != public.Curve.Params().BitSize {
		return errors.New("the key is of another curve than the algorithm's")
	}
	return nil
}
