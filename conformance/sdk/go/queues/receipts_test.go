package queues

// Updates and deletions of messages, and the receipts that they need.

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/stretchr/testify/require"
)

func (c *client) update(t *T, id, receipt, text string, seconds int32) azqueue.UpdateMessageResponse {
	t.Helper()
	response, err := c.queue.UpdateMessage(ctx, id, receipt, text, visibleIn(seconds))
	require.NoError(t, err)
	return response
}

func visibleIn(seconds int32) *azqueue.UpdateMessageOptions {
	return &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr(seconds)}
}

func TestUpdateReplacesTheText(t *testing.T) {
	conform(t, "UpdateMessage", func(t *T, c *client) {
		c.put(t, "before")
		message := c.getOne(t, 60)
		c.update(t, *message.MessageID, *message.PopReceipt, "after & <more>", 0)
		again := c.getOne(t, 60)
		require.Equal(t, "after & <more>", *again.MessageText)
		require.Equal(t, int64(2), *again.DequeueCount)
		require.Equal(t, *message.InsertionTime, *again.InsertionTime)
		require.Equal(t, *message.ExpirationTime, *again.ExpirationTime)
	})
}

func TestUpdateWithAnEmptyTextEmptiesTheMessage(t *testing.T) {
	conform(t, "UpdateMessage", func(t *T, c *client) {
		message := c.put(t, "before")
		c.update(t, *message.MessageID, *message.PopReceipt, "", 0)
		require.Empty(t, orEmpty(c.peek(t, 1)[0].MessageText))
	})
}

func TestUpdateTellsTheNewReceiptAndTime(t *testing.T) {
	conform(t, "UpdateMessage", func(t *T, c *client) {
		c.put(t, "text")
		message := c.getOne(t, 60)
		before := time.Now()
		response := c.update(t, *message.MessageID, *message.PopReceipt, "text", 120)
		require.NotEqual(t, *message.PopReceipt, *response.PopReceipt)
		require.WithinDuration(t, before.Add(2*time.Minute), *response.TimeNextVisible, 5*time.Second)
		require.Empty(t, c.texts(t))
		_, err := c.queue.DeleteMessage(ctx, *message.MessageID, *response.PopReceipt, nil)
		require.NoError(t, err)
	})
}

func TestUpdateAnswersNoContent(t *testing.T) {
	conform(t, "UpdateMessage", func(t *T, c *client) {
		message := c.put(t, "text")
		require.Equal(t, 204, status(t, func(ctx context.Context) error {
			_, err := c.queue.UpdateMessage(ctx, *message.MessageID, *message.PopReceipt, "text", visibleIn(0))
			return err
		}))
	})
}

func TestUpdateRefuses(t *testing.T) {
	for name, seconds := range map[string]int32{"a negative timeout": -1, "more than a week": 604801} {
		t.Run(name, func(t *testing.T) {
			conform(t, "UpdateMessage", func(t *T, c *client) {
				message := c.putWith(t, "text", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(-1))})
				_, err := c.queue.UpdateMessage(ctx, *message.MessageID, *message.PopReceipt, "text", visibleIn(seconds))
				requireRefused(t, err, 400, "OutOfRangeQueryParameterValue")
			})
		})
	}
}

func TestDeleteRemovesTheMessage(t *testing.T) {
	conform(t, "DeleteMessage", func(t *T, c *client) {
		c.put(t, "text")
		message := c.getOne(t, 60)
		require.Equal(t, 204, status(t, func(ctx context.Context) error {
			_, err := c.queue.DeleteMessage(ctx, *message.MessageID, *message.PopReceipt, nil)
			return err
		}))
		require.Zero(t, c.count(t))
	})
}

func TestReceiptOutlivesItsTimeout(t *testing.T) {
	conform(t, "DeleteMessage", func(t *T, c *client) {
		c.put(t, "text")
		message := c.getOne(t, 1)
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"text"}, c.texts(t))
		_, err := c.queue.DeleteMessage(ctx, *message.MessageID, *message.PopReceipt, nil)
		require.NoError(t, err)
	})
}

// stale lists what ends a receipt.
var stale = map[string]func(t *T, c *client, message *azqueue.EnqueuedMessage){
	"after a get": func(t *T, c *client, message *azqueue.EnqueuedMessage) {
		c.getOne(t, 60)
	},
	"after an update": func(t *T, c *client, message *azqueue.EnqueuedMessage) {
		c.update(t, *message.MessageID, *message.PopReceipt, "text", 0)
	},
	"after a deletion": func(t *T, c *client, message *azqueue.EnqueuedMessage) {
		_, err := c.queue.DeleteMessage(ctx, *message.MessageID, *message.PopReceipt, nil)
		require.NoError(t, err)
	},
}

func TestStaleReceiptDoesNotDelete(t *testing.T) {
	for name, end := range stale {
		t.Run(name, func(t *testing.T) {
			conform(t, "DeleteMessage", func(t *T, c *client) {
				message := c.put(t, "text")
				end(t, c, message)
				_, err := c.queue.DeleteMessage(ctx, *message.MessageID, *message.PopReceipt, nil)
				requireRefused(t, err, 404, "MessageNotFound")
			})
		})
	}
}

func TestStaleReceiptDoesNotUpdate(t *testing.T) {
	for name, end := range stale {
		t.Run(name, func(t *testing.T) {
			conform(t, "UpdateMessage", func(t *T, c *client) {
				message := c.put(t, "text")
				end(t, c, message)
				_, err := c.queue.UpdateMessage(ctx, *message.MessageID, *message.PopReceipt, "other", visibleIn(0))
				requireRefused(t, err, 404, "MessageNotFound")
			})
		})
	}
}

func TestUnknownMessageIsNotFound(t *testing.T) {
	const unknown = "00000000-1111-2222-3333-444444444444"
	for _, each := range []struct {
		operation, name string
		attempt         func(c *client, receipt string) error
	}{
		{"DeleteMessage", "by delete", func(c *client, receipt string) error {
			_, err := c.queue.DeleteMessage(ctx, unknown, receipt, nil)
			return err
		}},
		{"UpdateMessage", "by update", func(c *client, receipt string) error {
			_, err := c.queue.UpdateMessage(ctx, unknown, receipt, "text", visibleIn(0))
			return err
		}},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				requireRefused(t, each.attempt(c, *c.put(t, "text").PopReceipt), 404, "MessageNotFound")
			})
		})
	}
}

func TestMalformedReceiptIsRefused(t *testing.T) {
	for name, receipt := range map[string]string{
		"that is no base64": "%%%", "that is too short": base64.StdEncoding.EncodeToString([]byte("x")),
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "DeleteMessage", func(t *T, c *client) {
				_, err := c.queue.DeleteMessage(ctx, *c.put(t, "text").MessageID, receipt, nil)
				requireRefusedWith(t, err, 400, 404)
				require.Equal(t, int32(1), c.count(t))
			})
		})
	}
}

func TestClearRemovesEveryMessage(t *testing.T) {
	conform(t, "ClearMessages", func(t *T, c *client) {
		c.putMany(t, 40)
		held := c.getOne(t, 60)
		require.Equal(t, 204, status(t, func(ctx context.Context) error {
			_, err := c.queue.ClearMessages(ctx, nil)
			return err
		}))
		require.Zero(t, c.count(t))
		_, err := c.queue.DeleteMessage(ctx, *held.MessageID, *held.PopReceipt, nil)
		requireRefused(t, err, 404, "MessageNotFound")
		c.put(t, "fresh")
		require.Equal(t, []string{"fresh"}, c.texts(t))
	})
}

func TestClearOfAnEmptyQueueSucceeds(t *testing.T) {
	conform(t, "ClearMessages", func(t *T, c *client) {
		_, err := c.queue.ClearMessages(ctx, nil)
		require.NoError(t, err)
	})
}
