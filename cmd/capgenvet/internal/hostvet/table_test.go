package hostvet

import (
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// Every name of the table is a function of the package that it names: a typing
// error would make a rule blind. Names of capgen's own packages are among them.
func TestTableNamesFunctions(t *testing.T) {
	paths := map[string]bool{}
	names := map[string]bool{module + "/runtime.NewCapability": true, module + "/runtime.ServeWorkerAndExit": true, module + "/runtime/worker.ServeWorkerAndExit": true}
	for name := range newKnown() {
		names[name] = true
	}
	for name := range names {
		pkg, _, _ := parts(name)
		paths[pkg] = true
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports}, slices.Sorted(maps.Keys(paths))...)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]*types.Package{}
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Error(e)
		}
		in[p.PkgPath] = p.Types
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		pkg, receiver, function := parts(name)
		if got := lookup(in[pkg], receiver, function); got == nil || receiver != "" && got.FullName() != name {
			// syscall has not all that golang.org/x/sys/unix has, nor the reverse.
			if pkg == "syscall" && lookup(in["golang.org/x/sys/unix"], "", function) != nil ||
				pkg == "golang.org/x/sys/unix" && lookup(in["syscall"], "", function) != nil {
				continue
			}
			t.Errorf("%s is no function", name)
		}
	}
}

// parts of a full name: os.Open or (*os.Root).Open.
func parts(name string) (pkg, receiver, function string) {
	dot := strings.LastIndex(name, ".")
	pkg, function = name[:dot], name[dot+1:]
	if inner, ok := strings.CutPrefix(pkg, "("); ok {
		inner = strings.TrimLeft(strings.TrimSuffix(inner, ")"), "*")
		dot = strings.LastIndex(inner, ".")
		pkg, receiver = inner[:dot], inner[dot+1:]
	}
	return pkg, receiver, function
}

func lookup(pkg *types.Package, receiver, function string) *types.Func {
	if pkg == nil {
		return nil
	}
	object := pkg.Scope().Lookup(function)
	if receiver != "" {
		of := pkg.Scope().Lookup(receiver)
		if of == nil {
			return nil
		}
		object, _, _ = types.LookupFieldOrMethod(of.Type(), true, pkg, function)
	}
	fn, _ := object.(*types.Func)
	return fn
}
