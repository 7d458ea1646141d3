//go:build tools

// Package restic names the program, so that its module and what it needs stay in go.mod.
package restic

import _ "github.com/restic/restic/cmd/restic"
