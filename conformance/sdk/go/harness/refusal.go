package harness

// What an SDK reports when the service refuses.

import (
	"errors"
	"slices"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"
)

// Refusal is the service's answer behind an error; it fails the case if there is none.
func Refusal(t *T, err error) *azcore.ResponseError {
	t.Helper()
	require.Error(t, err, "the service accepted what it has to refuse")
	var failure *azcore.ResponseError
	require.ErrorAs(t, err, &failure)
	return failure
}

// RequireRefused wants a status and a code, or one of several where the service's documents name several.
func RequireRefused(t *T, err error, status int, codes ...string) {
	t.Helper()
	failure := Refusal(t, err)
	expected := [2]string{strconv.Itoa(status), codes[0]}
	if slices.Contains(codes, failure.ErrorCode) {
		expected[1] = failure.ErrorCode
	}
	require.Equal(t, expected, [2]string{strconv.Itoa(failure.StatusCode), failure.ErrorCode})
}

// RequireRefusedWith is for cases in which only the status is settled.
func RequireRefusedWith(t *T, err error, statuses ...int) {
	t.Helper()
	require.Contains(t, statuses, Refusal(t, err).StatusCode)
}

func IsNotFound(err error) bool {
	var failure *azcore.ResponseError
	return errors.As(err, &failure) && failure.StatusCode == 404
}
