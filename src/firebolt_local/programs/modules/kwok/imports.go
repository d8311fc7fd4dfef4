//go:build imports

// Package imports pins the programs that are built from this module.
package imports

import (
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
