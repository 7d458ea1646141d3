package tables

// What the SDK reports when a transaction breaks.

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/stretchr/testify/require"

	"tablerock/conformance/sdk/go/harness"
)

// groupFailure is the answer to the operation on which a transaction broke. The SDK reports only the status of the
// envelope, so this reads the part itself.
type groupFailure struct {
	Status int
	Code   string
	Index  int
}

var (
	statusLine = regexp.MustCompile(`(?m)^HTTP/1\.1 (\d{3}) `)
	indexed    = regexp.MustCompile(`^(\d+):`)
)

func transactionFailure(t *T, err error) groupFailure {
	t.Helper()
	failure := harness.Refusal(t, err)
	require.Equal(t, 202, failure.StatusCode, "a failed operation is reported inside an accepted envelope: %v", err)
	body, err := runtime.Payload(failure.RawResponse)
	require.NoError(t, err)

	statuses := statusLine.FindAllSubmatch(body, -1)
	require.Len(t, statuses, 1, "a failed transaction answers with one part:\n%s", body)
	status, err := strconv.Atoi(string(statuses[0][1]))
	require.NoError(t, err)

	start, end := bytes.IndexByte(body, '{'), bytes.LastIndexByte(body, '}')
	require.True(t, start >= 0 && end > start, "the part has no error body:\n%s", body)
	var answer struct {
		Error struct {
			Code    string
			Message struct{ Value string }
		} `json:"odata.error"`
	}
	require.NoError(t, json.Unmarshal(body[start:end+1], &answer))
	index := indexed.FindStringSubmatch(answer.Error.Message.Value)
	require.NotNil(t, index, "the message does not start with an index: %s", strings.TrimSpace(answer.Error.Message.Value))
	position, err := strconv.Atoi(index[1])
	require.NoError(t, err)
	return groupFailure{status, answer.Error.Code, position}
}
