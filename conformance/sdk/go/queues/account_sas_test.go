package queues

// Signatures for the account, as the queue service sees them.

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	blobsas "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"
	"github.com/stretchr/testify/require"
)

// accountSAS is a service client that has nothing but a token for these resource types and permissions.
func (c *client) accountSAS(t *T, types, permissions string) *azqueue.ServiceClient {
	t.Helper()
	token, err := sas.AccountSignatureValues{
		ExpiryTime: time.Now().UTC().Add(time.Hour), ResourceTypes: types, Permissions: permissions,
	}.SignWithSharedKey(credential(t, c.account))
	require.NoError(t, err)
	return c.openService(t, token.Encode())
}

func (c *client) openService(t *T, token string) *azqueue.ServiceClient {
	t.Helper()
	service, err := azqueue.NewServiceClientWithNoCredential(c.account.Endpoint("Queue")+"/?"+token, impatient())
	require.NoError(t, err)
	return service
}

// accountPermitted lists what a holder of an account's token may try, with the resource type and letter it needs.
var accountPermitted = []struct {
	name, resource, permission string
	attempt                    func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error
}{
	{"get properties", "s", "r", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.GetServiceProperties(ctx, nil)
		return err
	}},
	{"list queues", "s", "l", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.NewListQueuesPager(nil).NextPage(ctx)
		return err
	}},
	{"create queue", "c", "c", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		name := newQueueName(t)
		c.deleteAfterwards(t, name)
		_, err := service.CreateQueue(ctx, name, nil)
		return err
	}},
	{"delete queue", "c", "d", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.DeleteQueue(ctx, c.name, nil)
		return err
	}},
	{"get metadata", "c", "r", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.NewQueueClient(c.name).GetProperties(ctx, nil)
		return err
	}},
	{"set metadata", "c", "w", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.NewQueueClient(c.name).SetMetadata(ctx, &azqueue.SetMetadataOptions{
			Metadata: map[string]*string{"a": to.Ptr("b")},
		})
		return err
	}},
	{"put", "o", "a", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.NewQueueClient(c.name).EnqueueMessage(ctx, "text", nil)
		return err
	}},
	{"get", "o", "p", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.NewQueueClient(c.name).DequeueMessage(ctx, nil)
		return err
	}},
	{"delete", "o", "p", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.NewQueueClient(c.name).DeleteMessage(ctx, *held.MessageID, *held.PopReceipt, nil)
		return err
	}},
	{"peek", "o", "r", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.NewQueueClient(c.name).PeekMessage(ctx, nil)
		return err
	}},
	{"update", "o", "u", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.NewQueueClient(c.name).UpdateMessage(ctx, *held.MessageID, *held.PopReceipt, "text", visibleIn(0))
		return err
	}},
	{"clear", "o", "d", func(t *T, c *client, service *azqueue.ServiceClient, held *azqueue.DequeuedMessage) error {
		_, err := service.NewQueueClient(c.name).ClearMessages(ctx, nil)
		return err
	}},
}

func TestAccountSasPermitsOnQueues(t *testing.T) {
	for _, each := range accountPermitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.put(t, "text")
				held := c.getOne(t, 60)
				require.NoError(t, each.attempt(t, c, c.accountSAS(t, each.resource, each.permission), held))
			})
		})
	}
}

func TestAccountSasWithoutPermissionRefusesOnQueues(t *testing.T) {
	for _, each := range accountPermitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.put(t, "text")
				held := c.getOne(t, 60)
				others := strings.ReplaceAll("rwdlacup", each.permission, "")
				if each.permission == "c" {
					others = strings.ReplaceAll(others, "w", "") // Either of the two letters creates a queue.
				}
				err := each.attempt(t, c, c.accountSAS(t, "sco", others), held)
				requireRefused(t, err, 403, permissionMismatch)
			})
		})
	}
}

func TestAccountSasWithoutResourceTypeRefusesOnQueues(t *testing.T) {
	for _, each := range accountPermitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.put(t, "text")
				held := c.getOne(t, 60)
				others := strings.ReplaceAll("sco", each.resource, "")
				err := each.attempt(t, c, c.accountSAS(t, others, "rwdlacup"), held)
				requireRefused(t, err, 403, "AuthorizationResourceTypeMismatch")
			})
		})
	}
}

func TestAccountSasForBlobsIsRefusedByTheQueueService(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		key, err := azblob.NewSharedKeyCredential(c.account.Name, c.account.Key)
		require.NoError(t, err)
		token, err := blobsas.AccountSignatureValues{
			ExpiryTime: time.Now().UTC().Add(time.Hour), ResourceTypes: "sco", Permissions: "rwdlacup",
		}.SignWithSharedKey(key)
		require.NoError(t, err)
		_, err = c.openService(t, token.Encode()).NewListQueuesPager(nil).NextPage(ctx)
		requireRefused(t, err, 403, "AuthorizationServiceMismatch")
	})
}

func TestAccountSasNeverOpensPoliciesOfQueues(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		queue := c.accountSAS(t, "sco", "rwdlacup").NewQueueClient(c.name)
		_, err := queue.GetAccessPolicy(ctx, nil)
		requireRefusedWith(t, err, 403)
		_, err = queue.SetAccessPolicy(ctx, nil)
		requireRefusedWith(t, err, 403)
	})
}
