package queues

import (
	"context"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/stretchr/testify/require"

	"tablerock/conformance/sdk/go/harness"
)

func (c *client) setMetadata(t *T, metadata map[string]*string) {
	t.Helper()
	require.Equal(t, 204, status(t, func(ctx context.Context) error {
		_, err := c.queue.SetMetadata(ctx, &azqueue.SetMetadataOptions{Metadata: metadata})
		return err
	}))
}

// metadata has names in lower case, because HTTP stacks are free to change their case.
func (c *client) metadata(t *T) map[string]string {
	t.Helper()
	properties, err := c.queue.GetProperties(ctx, nil)
	require.NoError(t, err)
	found := map[string]string{}
	for name, value := range properties.Metadata {
		found[strings.ToLower(name)] = *value
	}
	return found
}

func TestNewQueueHasNoMetadataAndNoMessages(t *testing.T) {
	conform(t, "GetQueueMetadata", func(t *T, c *client) {
		require.Empty(t, c.metadata(t))
		require.Zero(t, c.count(t))
	})
}

func TestQueueKeepsTheMetadataOfItsCreation(t *testing.T) {
	conform(t, "CreateQueue", func(t *T, c *client) {
		prefix := c.family(t, "x")
		created := &client{account: c.account, service: c.service, queue: c.service.NewQueueClient(prefix + "x")}
		require.Equal(t, map[string]string{"member": "x"}, created.metadata(t))
	})
}

func TestSetMetadataReplacesAll(t *testing.T) {
	conform(t, "SetQueueMetadata", func(t *T, c *client) {
		c.setMetadata(t, map[string]*string{"one": to.Ptr("1"), "two": to.Ptr("2")})
		c.setMetadata(t, map[string]*string{"two": to.Ptr("II"), "three": to.Ptr("a b=c;d")})
		require.Equal(t, map[string]string{"two": "II", "three": "a b=c;d"}, c.metadata(t))
		c.setMetadata(t, nil)
		require.Empty(t, c.metadata(t))
	})
}

func TestSetMetadataKeepsMessages(t *testing.T) {
	conform(t, "SetQueueMetadata", func(t *T, c *client) {
		c.put(t, "kept")
		c.setMetadata(t, map[string]*string{"a": to.Ptr("b")})
		require.Equal(t, []string{"kept"}, c.texts(t))
	})
}

func TestSetMetadataRefusesAName(t *testing.T) {
	for name, key := range map[string]string{"with a dash": "a-b", "with a leading digit": "1a"} {
		t.Run(name, func(t *testing.T) {
			conform(t, "SetQueueMetadata", func(t *T, c *client) {
				_, err := c.queue.SetMetadata(ctx, &azqueue.SetMetadataOptions{Metadata: map[string]*string{key: to.Ptr("v")}})
				requireRefused(t, err, 400, "InvalidMetadata")
			})
		})
	}
}

func TestApproximateCountHasInvisibleMessages(t *testing.T) {
	conform(t, "GetQueueMetadata", func(t *T, c *client) {
		for range 3 {
			c.put(t, "text")
		}
		c.get(t, 2, 60)
		require.Equal(t, int32(3), c.count(t))
		c.putWith(t, "later", &azqueue.EnqueueMessageOptions{VisibilityTimeout: to.Ptr(int32(60))})
		require.Equal(t, int32(4), c.count(t))
	})
}

func TestApproximateCountFallsWithADeletion(t *testing.T) {
	conform(t, "GetQueueMetadata", func(t *T, c *client) {
		c.put(t, "kept")
		message := c.put(t, "deleted")
		_, err := c.queue.DeleteMessage(ctx, *message.MessageID, *message.PopReceipt, nil)
		require.NoError(t, err)
		require.Equal(t, int32(1), c.count(t))
	})
}

func TestQueueServiceAnswersWithTheCommonHeaders(t *testing.T) {
	conform(t, "GetQueueMetadata", func(t *T, c *client) {
		options := impatient()
		options.PerCallPolicies = []policy.Policy{harness.Header{Name: "x-ms-client-request-id", Value: "my-request"}}
		address := c.account.Endpoint("Queue") + "/" + c.name
		queue, err := azqueue.NewQueueClientWithSharedKeyCredential(address, credential(t, c.account), options)
		require.NoError(t, err)
		response, body, err := exchange(t, nil, func(ctx context.Context) error {
			_, err := queue.GetProperties(ctx, nil)
			return err
		})
		require.NoError(t, err)
		require.Empty(t, body)
		require.NotEmpty(t, response.Header.Get("x-ms-request-id"))
		require.NotEmpty(t, response.Header.Get("Date"))
		require.Equal(t, "my-request", response.Header.Get("x-ms-client-request-id"))
		require.Equal(t, response.Request.Header["x-ms-version"], response.Header.Values("x-ms-version"))
	})
}
