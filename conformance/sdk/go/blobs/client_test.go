// Package blobs drives a blob service through Microsoft's azblob module.
//
// This file owns what every case works with: clients for the account under test, the one container each case owns,
// and short words for writing and reading blobs.
package blobs

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/stretchr/testify/require"

	"tablerock/conformance/sdk/go/harness"
)

type T = harness.T

var (
	ctx                = harness.Ctx
	exchange           = harness.Exchange
	requireRefused     = harness.RequireRefused
	requireRefusedWith = harness.RequireRefusedWith
)

// conform runs one case of an operation against a container of its own.
func conform(t *testing.T, operation string, body func(t *T, c *client)) {
	t.Helper()
	harness.Run(t, operation, func(t *T) { body(t, newClient(t)) })
}

// client is what a case works with: the account, a service client with its key, and a container created for the case.
type client struct {
	account   harness.Account
	service   *service.Client
	container *container.Client
	name      string
}

func impatient() azcore.ClientOptions {
	return azcore.ClientOptions{Retry: harness.Impatient}
}

func credential(t *T, account harness.Account) *blob.SharedKeyCredential {
	t.Helper()
	credential, err := blob.NewSharedKeyCredential(account.Name, account.Key)
	require.NoError(t, err)
	return credential
}

func newClient(t *T) *client {
	t.Helper()
	account := harness.AccountFromEnvironment()
	opened, err := service.NewClientWithSharedKeyCredential(
		account.Endpoint("Blob")+"/", credential(t, account), &service.ClientOptions{ClientOptions: impatient()})
	require.NoError(t, err)
	c := &client{account: account, service: opened}
	c.name = c.newContainer(t)
	c.container = opened.NewContainerClient(c.name)
	return c
}

// newContainer creates one more container that goes away with the case.
func (c *client) newContainer(t *T) string {
	t.Helper()
	name := newContainerName(t)
	_, err := c.service.CreateContainer(ctx, name, nil)
	require.NoError(t, err)
	c.deleteAfterwards(t, name)
	return name
}

// deleteAfterwards ignores failures: the case may have deleted the container itself.
func (c *client) deleteAfterwards(t *T, name string) {
	t.Cleanup(func() { _, _ = c.service.DeleteContainer(ctx, name, nil) })
}

func newContainerName(t *T) string {
	t.Helper()
	return harness.NewName(t, "go-")
}

func (c *client) blob(name string) *blockblob.Client {
	return c.container.NewBlockBlobClient(name)
}

func reader(text string) io.ReadSeekCloser {
	return streaming.NopCloser(strings.NewReader(text))
}

// put writes a block blob in one request.
func (c *client) put(t *T, name, text string) blockblob.UploadResponse {
	t.Helper()
	return c.putWith(t, name, text, nil)
}

func (c *client) putWith(t *T, name, text string, options *blockblob.UploadOptions) blockblob.UploadResponse {
	t.Helper()
	response, err := c.blob(name).Upload(ctx, reader(text), options)
	require.NoError(t, err)
	return response
}

// downloader is any of the SDK's clients for a blob.
type downloader interface {
	DownloadStream(ctx context.Context, options *blob.DownloadStreamOptions) (blob.DownloadStreamResponse, error)
}

// get reads a blob, or what the options say of it, with the answer's headers.
func get(t *T, from downloader, options *blob.DownloadStreamOptions) (string, blob.DownloadStreamResponse) {
	t.Helper()
	response, err := from.DownloadStream(ctx, options)
	require.NoError(t, err)
	defer response.Body.Close()
	var content bytes.Buffer
	_, err = content.ReadFrom(response.Body)
	require.NoError(t, err)
	return content.String(), response
}

func (c *client) text(t *T, name string) string {
	t.Helper()
	text, _ := get(t, c.blob(name), nil)
	return text
}

func (c *client) properties(t *T, name string) blob.GetPropertiesResponse {
	t.Helper()
	properties, err := c.blob(name).GetProperties(ctx, nil)
	require.NoError(t, err)
	return properties
}

// lowered has names in lower case, because HTTP stacks are free to change their case.
func lowered(metadata map[string]*string) map[string]string {
	found := map[string]string{}
	for name, value := range metadata {
		found[strings.ToLower(name)] = *value
	}
	return found
}

// status is that of the answer under a call that succeeds.
func status(t *T, call func(context.Context) error) int {
	t.Helper()
	response, _, err := exchange(t, nil, call)
	require.NoError(t, err)
	return response.StatusCode
}

// failure is the error of a call whose answer does not matter.
func failure[R any](_ R, err error) error {
	return err
}

func orEmpty[S ~string](text *S) string {
	if text == nil {
		return ""
	}
	return string(*text)
}
