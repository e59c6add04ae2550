package policies

import (
	"io/fs"
	"path"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/cedar"
)

// FromFolder reads the schema below generated, and every policy of folder.
func FromFolder(files fs.FS, generated, folder string) (authz.Authorizer, error) {
	schema, err := fs.ReadFile(files, path.Join(generated, "policy/capabilities.cedarschema"))
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, path.Join(folder, "*.cedar"))
	if err != nil {
		return nil, err
	}
	policies := map[string][]byte{}
	for _, name := range names {
		if policies[name], err = fs.ReadFile(files, name); err != nil {
			return nil, err
		}
	}
	return cedar.New(cedar.Options{Schema: schema, Policies: policies})
}
