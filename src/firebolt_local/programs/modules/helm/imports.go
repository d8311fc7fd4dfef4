//go:build imports

// Package imports pins the programs that are built from this module.
package imports

import (
	_ "helm.sh/helm/v3/cmd/helm"
)
