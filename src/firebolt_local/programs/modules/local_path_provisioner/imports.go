//go:build imports

// Package imports pins the programs that are built from this module.
package imports

import (
	_ "github.com/rancher/local-path-provisioner"
)
