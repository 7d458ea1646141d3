// Package queues drives a queue service through Microsoft's azqueue module.
//
// This file owns what every case works with: clients for the account under test, the one queue each case owns, and
// short words for sending and getting messages.
package queues

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
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

// conform runs one case of an operation against a queue of its own.
func conform(t *testing.T, operation string, body func(t *T, c *client)) {
	t.Helper()
	harness.Run(t, operation, func(t *T) { body(t, newClient(t)) })
}

// client is what a case works with: the account, a service client with its key, and a queue created for the case.
type client struct {
	account harness.Account
	service *azqueue.ServiceClient
	queue   *azqueue.QueueClient
	name    string
}

func impatient() *azqueue.ClientOptions {
	options := &azqueue.ClientOptions{}
	options.Retry = harness.Impatient
	return options
}

func credential(t *T, account harness.Account) *azqueue.SharedKeyCredential {
	t.Helper()
	credential, err := azqueue.NewSharedKeyCredential(account.Name, account.Key)
	require.NoError(t, err)
	return credential
}

func newClient(t *T) *client {
	t.Helper()
	account := harness.AccountFromEnvironment()
	service, err := azqueue.NewServiceClientWithSharedKeyCredential(
		account.Endpoint("Queue")+"/", credential(t, account), impatient())
	require.NoError(t, err)
	c := &client{account: account, service: service}
	c.name = c.newQueue(t)
	c.queue = service.NewQueueClient(c.name)
	return c
}

// newQueue creates one more queue that goes away with the case.
func (c *client) newQueue(t *T) string {
	t.Helper()
	name := newQueueName(t)
	_, err := c.service.CreateQueue(ctx, name, nil)
	require.NoError(t, err)
	c.deleteAfterwards(t, name)
	return name
}

// deleteAfterwards ignores failures: the case may have deleted the queue itself.
func (c *client) deleteAfterwards(t *T, name string) {
	t.Cleanup(func() { _, _ = c.service.DeleteQueue(ctx, name, nil) })
}

func newQueueName(t *T) string {
	t.Helper()
	return harness.NewName(t, "go-")
}

// missing is a client for a queue that is not there.
func (c *client) missing(t *T) *azqueue.QueueClient {
	t.Helper()
	return c.service.NewQueueClient(newQueueName(t))
}

func (c *client) put(t *T, text string) *azqueue.EnqueuedMessage {
	t.Helper()
	return c.putWith(t, text, nil)
}

func (c *client) putWith(t *T, text string, options *azqueue.EnqueueMessageOptions) *azqueue.EnqueuedMessage {
	t.Helper()
	response, err := c.queue.EnqueueMessage(ctx, text, options)
	require.NoError(t, err)
	require.Len(t, response.Messages, 1)
	return response.Messages[0]
}

// get takes up to so many messages and hides them for so long.
func (c *client) get(t *T, count, seconds int32) []*azqueue.DequeuedMessage {
	t.Helper()
	response, err := c.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
		NumberOfMessages: to.Ptr(count), VisibilityTimeout: to.Ptr(seconds),
	})
	require.NoError(t, err)
	return response.Messages
}

func (c *client) getOne(t *T, seconds int32) *azqueue.DequeuedMessage {
	t.Helper()
	messages := c.get(t, 1, seconds)
	require.Len(t, messages, 1)
	return messages[0]
}

func (c *client) peek(t *T, count int32) []*azqueue.PeekedMessage {
	t.Helper()
	response, err := c.queue.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr(count)})
	require.NoError(t, err)
	return response.Messages
}

// texts are the messages that a peek shows.
func (c *client) texts(t *T) []string {
	t.Helper()
	texts := []string{}
	for _, message := range c.peek(t, 32) {
		texts = append(texts, *message.MessageText)
	}
	return texts
}

// count is the approximate number of messages, the invisible ones included.
func (c *client) count(t *T) int32 {
	t.Helper()
	properties, err := c.queue.GetProperties(ctx, nil)
	require.NoError(t, err)
	return *properties.ApproximateMessagesCount
}
