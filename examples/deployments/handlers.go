//go:build !capgen_default

package main

import (
	"github.com/capgen/capgen/examples/deployments/desk"
	"github.com/capgen/capgen/examples/deployments/generated/catalog"
)

func handlers(d *desk.Desk) catalog.Handlers { return catalog.Handlers{Letters: d} }
