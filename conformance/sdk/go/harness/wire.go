package harness

// A look under the SDK, for what its types cannot show.

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/stretchr/testify/require"
)

// Exchange runs one SDK call and returns the response behind it, with the body already read.
func Exchange(t *T, headers http.Header, call func(context.Context) error) (*http.Response, []byte, error) {
	t.Helper()
	var response *http.Response
	captured := policy.WithCaptureResponse(policy.WithHTTPHeader(Ctx, headers), &response)
	failure := call(captured)
	require.NotNil(t, response, "no answer at all: %v", failure)
	body, err := runtime.Payload(response)
	require.NoError(t, err)
	return response, body, failure
}

// Header is a header that a client sends with every request, signed like its own.
type Header struct{ Name, Value string }

func (h Header) Do(request *policy.Request) (*http.Response, error) {
	request.Raw().Header.Set(h.Name, h.Value)
	return request.Next()
}
