package blobs

// Signatures for the account, as the blob service sees them.

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	queuesas "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"
	"github.com/stretchr/testify/require"
)

func (c *client) accountSAS(t *T, types, permissions string) *service.Client {
	t.Helper()
	token, err := sas.AccountSignatureValues{
		ExpiryTime: time.Now().UTC().Add(time.Hour), ResourceTypes: types, Permissions: permissions,
	}.SignWithSharedKey(credential(t, c.account))
	require.NoError(t, err)
	return c.openService(t, token.Encode())
}

func (c *client) openService(t *T, token string) *service.Client {
	t.Helper()
	address := c.account.Endpoint("Blob") + "/?" + token
	opened, err := service.NewClientWithNoCredential(address, &service.ClientOptions{ClientOptions: impatient()})
	require.NoError(t, err)
	return opened
}

// accountPermitted lists what a holder of an account's token may try, with the resource type and letter it needs.
var accountPermitted = []struct {
	name, resource, permission string
	attempt                    func(t *T, c *client, limited *service.Client) error
}{
	{"service properties", "s", "r", func(t *T, c *client, limited *service.Client) error {
		return failure(limited.GetProperties(ctx, nil))
	}},
	{"list containers", "s", "l", func(t *T, c *client, limited *service.Client) error {
		return failure(limited.NewListContainersPager(nil).NextPage(ctx))
	}},
	{"create container", "c", "c", func(t *T, c *client, limited *service.Client) error {
		name := newContainerName(t)
		c.deleteAfterwards(t, name)
		return failure(limited.CreateContainer(ctx, name, nil))
	}},
	{"delete container", "c", "d", func(t *T, c *client, limited *service.Client) error {
		return failure(limited.DeleteContainer(ctx, c.name, nil))
	}},
	{"container properties", "c", "r", func(t *T, c *client, limited *service.Client) error {
		return failure(limited.NewContainerClient(c.name).GetProperties(ctx, nil))
	}},
	{"container metadata", "c", "w", func(t *T, c *client, limited *service.Client) error {
		options := &container.SetMetadataOptions{Metadata: map[string]*string{"a": to.Ptr("b")}}
		return failure(limited.NewContainerClient(c.name).SetMetadata(ctx, options))
	}},
	{"list blobs", "c", "l", func(t *T, c *client, limited *service.Client) error {
		return failure(limited.NewContainerClient(c.name).NewListBlobsFlatPager(nil).NextPage(ctx))
	}},
	{"create blob", "o", "c", func(t *T, c *client, limited *service.Client) error {
		return failure(limited.NewContainerClient(c.name).NewBlockBlobClient("new").Upload(ctx, reader("x"), nil))
	}},
	{"overwrite blob", "o", "w", func(t *T, c *client, limited *service.Client) error {
		return failure(limited.NewContainerClient(c.name).NewBlockBlobClient("b").Upload(ctx, reader("x"), nil))
	}},
	{"get blob", "o", "r", func(t *T, c *client, limited *service.Client) error {
		return failure(limited.NewContainerClient(c.name).NewBlockBlobClient("b").GetProperties(ctx, nil))
	}},
	{"append block", "o", "a", func(t *T, c *client, limited *service.Client) error {
		return failure(limited.NewContainerClient(c.name).NewAppendBlobClient("log").AppendBlock(ctx, reader("x"), nil))
	}},
	{"delete blob", "o", "d", func(t *T, c *client, limited *service.Client) error {
		return failure(limited.NewContainerClient(c.name).NewBlockBlobClient("b").Delete(ctx, nil))
	}},
}

func TestAccountSasPermitsOnBlobs(t *testing.T) {
	for _, each := range accountPermitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.putForSAS(t)
				require.NoError(t, each.attempt(t, c, c.accountSAS(t, each.resource, each.permission)))
			})
		})
	}
}

func TestAccountSasWithoutPermissionRefusesOnBlobs(t *testing.T) {
	for _, each := range accountPermitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.putForSAS(t)
				err := each.attempt(t, c, c.accountSAS(t, "sco", others(each.permission)))
				requireRefusedWith(t, err, 403)
			})
		})
	}
}

func TestAccountSasWithoutResourceTypeRefusesOnBlobs(t *testing.T) {
	for _, each := range accountPermitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.putForSAS(t)
				types := strings.ReplaceAll("sco", each.resource, "")
				err := each.attempt(t, c, c.accountSAS(t, types, "rwdlac"))
				requireRefused(t, err, 403, "AuthorizationResourceTypeMismatch")
			})
		})
	}
}

func TestAccountSasForQueuesIsRefusedByTheBlobService(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		key, err := azqueue.NewSharedKeyCredential(c.account.Name, c.account.Key)
		require.NoError(t, err)
		token, err := queuesas.AccountSignatureValues{
			ExpiryTime: time.Now().UTC().Add(time.Hour), ResourceTypes: "sco", Permissions: "rwdlacup",
		}.SignWithSharedKey(key)
		require.NoError(t, err)
		err = failure(c.openService(t, token.Encode()).NewListContainersPager(nil).NextPage(ctx))
		requireRefused(t, err, 403, "AuthorizationServiceMismatch")
	})
}

func TestAccountSasDeletesInABatch(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.putAll(t, "a", "b")
		limited := c.accountSAS(t, "sco", "rwdlac")
		batch, err := limited.NewBatchBuilder()
		require.NoError(t, err)
		require.NoError(t, batch.Delete(c.name, "a", nil))
		answer, err := limited.SubmitBatch(ctx, batch, nil)
		require.NoError(t, err)
		require.Len(t, answer.Responses, 1)
		require.NoError(t, answer.Responses[0].Error)
		require.Equal(t, []string{"b"}, c.names(t, nil))
	})
}
