package queues

// Signatures for one queue.

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"
	"github.com/stretchr/testify/require"
)

const (
	authenticationFailed = "AuthenticationFailed"
	permissionMismatch   = "AuthorizationPermissionMismatch"
)

// open is a client that has nothing but a token.
func (c *client) open(t *T, queue string, token sas.QueryParameters) *azqueue.QueueClient {
	t.Helper()
	address := c.account.Endpoint("Queue") + "/" + queue + "?" + token.Encode()
	opened, err := azqueue.NewQueueClientWithNoCredential(address, impatient())
	require.NoError(t, err)
	return opened
}

// sas opens the case's queue with a token that is good for an hour and for http, unless it says otherwise.
func (c *client) sas(t *T, token sas.QueueSignatureValues) *azqueue.QueueClient {
	t.Helper()
	if token.Identifier == "" && token.ExpiryTime.IsZero() {
		token.ExpiryTime = time.Now().UTC().Add(time.Hour)
	}
	if token.QueueName == "" {
		token.QueueName = c.name
	}
	signed, err := token.SignWithSharedKey(credential(t, c.account))
	require.NoError(t, err)
	return c.open(t, c.name, signed)
}

// permitted lists what a holder of a queue's token may try, and the letter it needs.
var permitted = []struct {
	name, permission string
	attempt          func(c *client, queue *azqueue.QueueClient, held *azqueue.DequeuedMessage) error
}{
	{"get metadata", "r", func(c *client, queue *azqueue.QueueClient, held *azqueue.DequeuedMessage) error {
		_, err := queue.GetProperties(ctx, nil)
		return err
	}},
	{"peek", "r", func(c *client, queue *azqueue.QueueClient, held *azqueue.DequeuedMessage) error {
		_, err := queue.PeekMessage(ctx, nil)
		return err
	}},
	{"put", "a", func(c *client, queue *azqueue.QueueClient, held *azqueue.DequeuedMessage) error {
		_, err := queue.EnqueueMessage(ctx, "text", nil)
		return err
	}},
	{"update", "u", func(c *client, queue *azqueue.QueueClient, held *azqueue.DequeuedMessage) error {
		_, err := queue.UpdateMessage(ctx, *held.MessageID, *held.PopReceipt, "text", visibleIn(0))
		return err
	}},
	{"get", "p", func(c *client, queue *azqueue.QueueClient, held *azqueue.DequeuedMessage) error {
		_, err := queue.DequeueMessage(ctx, nil)
		return err
	}},
	{"delete", "p", func(c *client, queue *azqueue.QueueClient, held *azqueue.DequeuedMessage) error {
		_, err := queue.DeleteMessage(ctx, *held.MessageID, *held.PopReceipt, nil)
		return err
	}},
}

func TestQueueSasPermits(t *testing.T) {
	for _, each := range permitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.put(t, "text")
				held := c.getOne(t, 60)
				queue := c.sas(t, sas.QueueSignatureValues{Permissions: each.permission})
				require.NoError(t, each.attempt(c, queue, held))
			})
		})
	}
}

func TestQueueSasWithoutPermissionRefuses(t *testing.T) {
	for _, each := range permitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.put(t, "text")
				held := c.getOne(t, 60)
				others := strings.ReplaceAll("raup", each.permission, "")
				queue := c.sas(t, sas.QueueSignatureValues{Permissions: others})
				requireRefused(t, each.attempt(c, queue, held), 403, permissionMismatch)
			})
		})
	}
}

func TestQueueSasNeverPermits(t *testing.T) {
	for name, attempt := range map[string]func(queue *azqueue.QueueClient) error{
		"create": func(queue *azqueue.QueueClient) error {
			_, err := queue.Create(ctx, nil)
			return err
		},
		"delete": func(queue *azqueue.QueueClient) error {
			_, err := queue.Delete(ctx, nil)
			return err
		},
		"clear": func(queue *azqueue.QueueClient) error {
			_, err := queue.ClearMessages(ctx, nil)
			return err
		},
		"set metadata": func(queue *azqueue.QueueClient) error {
			_, err := queue.SetMetadata(ctx, &azqueue.SetMetadataOptions{Metadata: map[string]*string{"a": to.Ptr("b")}})
			return err
		},
		"get policies": func(queue *azqueue.QueueClient) error {
			_, err := queue.GetAccessPolicy(ctx, nil)
			return err
		},
		"set policies": func(queue *azqueue.QueueClient) error {
			_, err := queue.SetAccessPolicy(ctx, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				requireRefusedWith(t, attempt(c.sas(t, sas.QueueSignatureValues{Permissions: "raup"})), 403)
			})
		})
	}
}

func TestQueueSasIsRefusedWhen(t *testing.T) {
	now := time.Now().UTC()
	for _, each := range []struct {
		name  string
		token sas.QueueSignatureValues
		code  string
	}{
		{"expired", sas.QueueSignatureValues{Permissions: "r", ExpiryTime: now.Add(-time.Hour)}, authenticationFailed},
		{"not yet valid", sas.QueueSignatureValues{
			Permissions: "r", StartTime: now.Add(time.Hour), ExpiryTime: now.Add(2 * time.Hour),
		}, authenticationFailed},
		{"naming an unknown policy", sas.QueueSignatureValues{Identifier: "unknown"}, authenticationFailed},
		{"for another address", sas.QueueSignatureValues{
			Permissions: "r", IPRange: sas.IPRange{Start: net.ParseIP("203.0.113.7")},
		}, "AuthorizationSourceIPMismatch"},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				_, err := c.sas(t, each.token).PeekMessage(ctx, nil)
				requireRefused(t, err, 403, each.code)
			})
		})
	}
}

func TestQueueSasForAnyAddressIsAccepted(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		everywhere := sas.IPRange{Start: net.ParseIP("0.0.0.0"), End: net.ParseIP("255.255.255.255")}
		queue := c.sas(t, sas.QueueSignatureValues{
			Permissions: "r", IPRange: everywhere, Protocol: sas.ProtocolHTTPSandHTTP, StartTime: time.Now().UTC().Add(-time.Hour),
		})
		_, err := queue.PeekMessage(ctx, nil)
		require.NoError(t, err)
	})
}

func TestQueueSasForHttpsIsRefusedOverHttp(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		if strings.HasPrefix(c.account.Endpoint("Queue"), "https:") {
			t.Skip("the account is reached over https")
		}
		_, err := c.sas(t, sas.QueueSignatureValues{Permissions: "r", Protocol: sas.ProtocolHTTPS}).PeekMessage(ctx, nil)
		requireRefused(t, err, 403, "AuthorizationProtocolMismatch")
	})
}

func TestQueueSasIsRefusedForAnotherQueue(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		_, err := c.sas(t, sas.QueueSignatureValues{Permissions: "raup", QueueName: c.newQueue(t)}).PeekMessage(ctx, nil)
		requireRefused(t, err, 403, authenticationFailed)
	})
}

func TestWrongKeyIsRefusedByTheQueueService(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		wrong, err := azqueue.NewSharedKeyCredential(c.account.Name, "d3Jvbmc=")
		require.NoError(t, err)
		service, err := azqueue.NewServiceClientWithSharedKeyCredential(c.account.Endpoint("Queue")+"/", wrong, impatient())
		require.NoError(t, err)
		_, err = service.NewListQueuesPager(nil).NextPage(ctx)
		requireRefused(t, err, 403, authenticationFailed)
	})
}

func TestConnectionStringOpensTheQueueService(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		queue, err := azqueue.NewQueueClientFromConnectionString(c.account.Connection, c.name, impatient())
		require.NoError(t, err)
		_, err = queue.EnqueueMessage(ctx, "text", nil)
		require.NoError(t, err)
	})
}
