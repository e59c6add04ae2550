//go:build goexperiment.jsonv2

package oracle

import (
	"bytes"
	"encoding/json/jsontext"
)

// second is what jsontext says of text: its RFC 8785 form, or why it is no
// strict JSON.
func second(text []byte) (canonical []byte, known bool, err error) {
	v := jsontext.Value(bytes.Clone(text))
	err = v.Canonicalize()
	return v, true, err
}
