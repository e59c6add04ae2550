package codegen

import (
	"encoding/json"
	"github.com/capgen/capgen/schema"
)

func effective(t *schema.Type) json.RawMessage { return json.RawMessage(jsonText(describeType(t))) }
