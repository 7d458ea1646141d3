package conformance

// A look under the SDK, for what its types cannot show.

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/stretchr/testify/require"
)

// exchange runs one SDK call and returns the response behind it, with the body already read.
func exchange(t *T, headers http.Header, call func(context.Context) error) (*http.Response, []byte, error) {
	t.Helper()
	var response *http.Response
	captured := policy.WithCaptureResponse(policy.WithHTTPHeader(ctx, headers), &response)
	failure := call(captured)
	require.NotNil(t, response, "no answer at all: %v", failure)
	body, err := runtime.Payload(response)
	require.NoError(t, err)
	return response, body, failure
}
