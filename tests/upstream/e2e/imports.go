//go:build tools

// Package upstream pins what Kubernetes' own end-to-end tests need: go.mod follows this import.
package upstream

import _ "k8s.io/kubernetes/test/e2e"
