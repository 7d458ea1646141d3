package harness

// What an SDK reports when the service refuses.

import (
	"errors"
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

func RequireRefused(t *T, err error, status int, code string) {
	t.Helper()
	failure := Refusal(t, err)
	require.Equal(t, [2]string{strconv.Itoa(status), code}, [2]string{strconv.Itoa(failure.StatusCode), failure.ErrorCode})
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
