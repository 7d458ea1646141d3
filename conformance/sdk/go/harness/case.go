// Package harness is what the cases for tables, queues and blobs share: the shape of a case, the account under test,
// the words for a refusal, and a look under the SDK. It knows no service.
package harness

import (
	"context"
	"fmt"
	"testing"
)

// Ctx is shared by all requests; `go test` bounds the whole run.
var Ctx = context.Background()

// T is a testing.T that also remembers why it failed or was skipped, because the result line has to say so
// and testing.T does not tell.
type T struct {
	*testing.T
	details []string
}

func (t *T) Errorf(format string, args ...any) {
	t.Helper()
	t.details = append(t.details, summary(fmt.Sprintf(format, args...)))
	t.T.Errorf(format, args...)
}

func (t *T) Skip(args ...any) {
	t.Helper()
	t.details = append(t.details, fmt.Sprint(args...))
	t.T.Skip(args...)
}

// Run runs one case of an operation. The case is named after the test, so TestInsertKeepsEveryType/guid is reported
// as insert_keeps_every_type_guid.
func Run(t *testing.T, operation string, body func(t *T)) {
	t.Helper()
	recorded := &T{T: t}
	t.Cleanup(func() { report(recorded, operation) })
	body(recorded)
}
