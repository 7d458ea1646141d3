package conformance

// What the SDK reports when the service refuses.

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/stretchr/testify/require"
)

func refusal(t *T, err error) *azcore.ResponseError {
	t.Helper()
	require.Error(t, err, "the service accepted what it has to refuse")
	var failure *azcore.ResponseError
	require.ErrorAs(t, err, &failure)
	return failure
}

func requireRefused(t *T, err error, status int, code string) {
	t.Helper()
	failure := refusal(t, err)
	require.Equal(t, [2]string{strconv.Itoa(status), code}, [2]string{strconv.Itoa(failure.StatusCode), failure.ErrorCode})
}

// requireRefusedWith is for cases in which only the status is settled.
func requireRefusedWith(t *T, err error, statuses ...int) {
	t.Helper()
	require.Contains(t, statuses, refusal(t, err).StatusCode)
}

func isNotFound(err error) bool {
	var failure *azcore.ResponseError
	return errors.As(err, &failure) && failure.StatusCode == 404
}

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
	failure := refusal(t, err)
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
