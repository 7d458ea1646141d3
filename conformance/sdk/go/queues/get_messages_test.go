package queues

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/stretchr/testify/require"
)

func (c *client) putMany(t *T, count int) []string {
	t.Helper()
	var texts []string
	for i := range count {
		texts = append(texts, strconv.Itoa(i))
		c.put(t, texts[i])
	}
	return texts
}

func dequeuedTexts(messages []*azqueue.DequeuedMessage) []string {
	texts := []string{}
	for _, message := range messages {
		texts = append(texts, *message.MessageText)
	}
	return texts
}

func TestGetTellsAll(t *testing.T) {
	conform(t, "GetMessages", func(t *T, c *client) {
		put := c.put(t, "text")
		before := time.Now()
		message := c.getOne(t, 60)
		require.Equal(t, *put.MessageID, *message.MessageID)
		require.Equal(t, *put.InsertionTime, *message.InsertionTime)
		require.Equal(t, *put.ExpirationTime, *message.ExpirationTime)
		require.Equal(t, "text", *message.MessageText)
		require.Equal(t, int64(1), *message.DequeueCount)
		require.NotEqual(t, *put.PopReceipt, *message.PopReceipt)
		require.WithinDuration(t, before.Add(time.Minute), *message.TimeNextVisible, 5*time.Second)
	})
}

func TestGetHidesFor30SecondsUnlessTold(t *testing.T) {
	conform(t, "GetMessages", func(t *T, c *client) {
		c.put(t, "text")
		before := time.Now()
		response, err := c.queue.DequeueMessage(ctx, nil)
		require.NoError(t, err)
		require.Len(t, response.Messages, 1)
		require.WithinDuration(t, before.Add(30*time.Second), *response.Messages[0].TimeNextVisible, 5*time.Second)
	})
}

func TestGetTakesOneUnlessTold(t *testing.T) {
	conform(t, "GetMessages", func(t *T, c *client) {
		c.putMany(t, 3)
		response, err := c.queue.DequeueMessages(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"0"}, dequeuedTexts(response.Messages))
	})
}

func TestGetTakesTheOldestFirst(t *testing.T) {
	conform(t, "GetMessages", func(t *T, c *client) {
		texts := c.putMany(t, 10)
		require.Equal(t, texts[:4], dequeuedTexts(c.get(t, 4, 60)))
		require.Equal(t, texts[4:], dequeuedTexts(c.get(t, 32, 60)))
		require.Empty(t, c.get(t, 32, 60))
	})
}

func TestGetTakes32AtMost(t *testing.T) {
	conform(t, "GetMessages", func(t *T, c *client) {
		texts := c.putMany(t, 33)
		require.Equal(t, texts[:32], dequeuedTexts(c.get(t, 32, 60)))
	})
}

func TestGetOfAnEmptyQueueIsEmpty(t *testing.T) {
	conform(t, "GetMessages", func(t *T, c *client) {
		require.Empty(t, c.get(t, 32, 60))
	})
}

func TestGetRefuses(t *testing.T) {
	for _, each := range []struct {
		name           string
		count, seconds *int32
	}{
		{"no messages", to.Ptr(int32(0)), nil},
		{"33 messages", to.Ptr(int32(33)), nil},
		{"no visibility timeout", nil, to.Ptr(int32(0))},
		{"more than a week", nil, to.Ptr(int32(604801))},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "GetMessages", func(t *T, c *client) {
				_, err := c.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
					NumberOfMessages: each.count, VisibilityTimeout: each.seconds,
				})
				requireRefused(t, err, 400, "OutOfRangeQueryParameterValue")
			})
		})
	}
}

func TestMessageComesBackAfterItsTimeout(t *testing.T) {
	conform(t, "GetMessages", func(t *T, c *client) {
		c.put(t, "text")
		first := c.getOne(t, 1)
		require.Empty(t, c.texts(t))
		time.Sleep(2 * time.Second)
		require.Equal(t, int64(1), *c.peek(t, 1)[0].DequeueCount)
		second := c.getOne(t, 60)
		require.Equal(t, *first.MessageID, *second.MessageID)
		require.Equal(t, int64(2), *second.DequeueCount)
		require.NotEqual(t, *first.PopReceipt, *second.PopReceipt)
	})
}

func TestMessageThatCameBackStandsBehind(t *testing.T) {
	conform(t, "GetMessages", func(t *T, c *client) {
		c.put(t, "first")
		c.getOne(t, 1)
		c.put(t, "second")
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{"second", "first"}, dequeuedTexts(c.get(t, 32, 60)))
	})
}

func TestGetMayHideBeyondTheExpiry(t *testing.T) {
	conform(t, "GetMessages", func(t *T, c *client) {
		c.putWith(t, "short", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(60))})
		message := c.getOne(t, 3600)
		require.True(t, message.TimeNextVisible.After(*message.ExpirationTime))
	})
}

func TestNoMessageGoesToTwoConsumers(t *testing.T) {
	conform(t, "GetMessages", func(t *T, c *client) {
		const consumers, messages = 8, 60
		c.putMany(t, messages)
		taken := make(chan string, 2*messages)
		failures := make(chan error, consumers)
		var group sync.WaitGroup
		for range consumers {
			group.Add(1)
			go func() {
				defer group.Done()
				for range messages {
					response, err := c.queue.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
						NumberOfMessages: to.Ptr(int32(5)), VisibilityTimeout: to.Ptr(int32(600)),
					})
					if err != nil {
						failures <- err
						return
					}
					if len(response.Messages) == 0 {
						return
					}
					for _, message := range response.Messages {
						taken <- *message.MessageText
					}
				}
			}()
		}
		group.Wait()
		close(taken)
		close(failures)
		require.NoError(t, <-failures)
		seen := map[string]int{}
		for text := range taken {
			seen[text]++
		}
		require.Len(t, seen, messages)
		for text, times := range seen {
			require.Equal(t, 1, times, "message %s was handed out more than once", text)
		}
	})
}

func TestPeekTellsWhatItMay(t *testing.T) {
	conform(t, "PeekMessages", func(t *T, c *client) {
		put := c.put(t, "text")
		messages := c.peek(t, 1)
		require.Len(t, messages, 1)
		require.Equal(t, *put.MessageID, *messages[0].MessageID)
		require.Equal(t, *put.InsertionTime, *messages[0].InsertionTime)
		require.Equal(t, *put.ExpirationTime, *messages[0].ExpirationTime)
		require.Equal(t, int64(0), *messages[0].DequeueCount)
		require.Equal(t, "text", *messages[0].MessageText)
	})
}

func TestPeekChangesNothing(t *testing.T) {
	conform(t, "PeekMessages", func(t *T, c *client) {
		texts := c.putMany(t, 3)
		require.Equal(t, texts, c.texts(t))
		require.Equal(t, texts, c.texts(t))
		for _, message := range c.get(t, 32, 60) {
			require.Equal(t, int64(1), *message.DequeueCount)
		}
	})
}

func TestPeekShowsOneUnlessTold(t *testing.T) {
	conform(t, "PeekMessages", func(t *T, c *client) {
		c.putMany(t, 3)
		response, err := c.queue.PeekMessages(ctx, nil)
		require.NoError(t, err)
		require.Len(t, response.Messages, 1)
	})
}

func TestPeekShowsOnlyVisibleMessages(t *testing.T) {
	conform(t, "PeekMessages", func(t *T, c *client) {
		texts := c.putMany(t, 3)
		c.getOne(t, 60)
		require.Equal(t, texts[1:], c.texts(t))
	})
}

func TestPeekRefuses(t *testing.T) {
	for name, count := range map[string]int32{"no messages": 0, "33 messages": 33} {
		t.Run(name, func(t *testing.T) {
			conform(t, "PeekMessages", func(t *T, c *client) {
				_, err := c.queue.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: to.Ptr(count)})
				requireRefused(t, err, 400, "OutOfRangeQueryParameterValue")
			})
		})
	}
}
