package queues

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/stretchr/testify/require"
)

const week = 7 * 24 * time.Hour

// never is when a message expires that does not expire.
var never = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

func TestPutTellsAllButTheText(t *testing.T) {
	conform(t, "PutMessage", func(t *T, c *client) {
		message := c.put(t, "text")
		require.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, *message.MessageID)
		_, err := base64.StdEncoding.DecodeString(*message.PopReceipt)
		require.NoError(t, err, "a pop receipt is base64")
		require.Equal(t, week, message.ExpirationTime.Sub(*message.InsertionTime))
		require.Equal(t, *message.InsertionTime, *message.TimeNextVisible)
		require.WithinDuration(t, time.Now(), *message.InsertionTime, 15*time.Minute)
	})
}

func TestPutAnswersCreated(t *testing.T) {
	conform(t, "PutMessage", func(t *T, c *client) {
		require.Equal(t, 201, status(t, func(ctx context.Context) error {
			_, err := c.queue.EnqueueMessage(ctx, "text", nil)
			return err
		}))
	})
}

func TestMessageKeepsItsText(t *testing.T) {
	for name, text := range map[string]string{
		"empty":               "",
		"markup":              "<a b=\"c\">&amp;</a>",
		"escaped twice":       "&amp;lt;x",
		"white space":         "  \ttab and\nline  ",
		"only a blank":        " ",
		"beyond ascii":        "Grüße, 世界 🌍",
		"json":                `{"key": ["value", 1]}`,
		"base64":              "aGVsbG8=",
		"cdata":               "<![CDATA[ x ]]>",
		"of 64 kib":           strings.Repeat("x", 64*1024),
		"of 20 kib of markup": strings.Repeat("<", 20*1024),
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "PutMessage", func(t *T, c *client) {
				c.put(t, text)
				require.Equal(t, text, orEmpty(c.peek(t, 1)[0].MessageText))
				require.Equal(t, text, orEmpty(c.getOne(t, 30).MessageText))
			})
		})
	}
}

func TestPutRefusesAText(t *testing.T) {
	for name, text := range map[string]string{
		"over 64 kib":               strings.Repeat("x", 64*1024+1),
		"over 64 kib only in bytes": strings.Repeat("ü", 32*1024+1),
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "PutMessage", func(t *T, c *client) {
				_, err := c.queue.EnqueueMessage(ctx, text, nil)
				requireRefused(t, err, 413, "RequestBodyTooLarge")
				require.Zero(t, c.count(t))
			})
		})
	}
}

func TestTimeToLive(t *testing.T) {
	for _, each := range []struct {
		name    string
		seconds int32
		expires func(inserted time.Time) time.Time
	}{
		{"of a second", 1, func(inserted time.Time) time.Time { return inserted.Add(time.Second) }},
		{"of an hour", 3600, func(inserted time.Time) time.Time { return inserted.Add(time.Hour) }},
		{"of two weeks", 1209600, func(inserted time.Time) time.Time { return inserted.Add(2 * week) }},
		{"without end", -1, func(time.Time) time.Time { return never }},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "PutMessage", func(t *T, c *client) {
				message := c.putWith(t, "text", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(each.seconds)})
				require.Equal(t, each.expires(message.InsertionTime.UTC()), message.ExpirationTime.UTC())
			})
		})
	}
}

func TestPutRefuses(t *testing.T) {
	for _, each := range []struct {
		name            string
		ttl, visibility *int32
		code            string
	}{
		{"no time to live", to.Ptr(int32(0)), nil, "InvalidQueryParameterValue"},
		{"less than endless life", to.Ptr(int32(-2)), nil, "InvalidQueryParameterValue"},
		{"a negative visibility timeout", nil, to.Ptr(int32(-1)), "OutOfRangeQueryParameterValue"},
		{"more than a week of invisibility", to.Ptr(int32(-1)), to.Ptr(int32(604801)), "OutOfRangeQueryParameterValue"},
		{"to be invisible for the whole life", to.Ptr(int32(60)), to.Ptr(int32(60)), "InvalidQueryParameterValue"},
		{"to be invisible beyond the life", to.Ptr(int32(60)), to.Ptr(int32(61)), "InvalidQueryParameterValue"},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "PutMessage", func(t *T, c *client) {
				_, err := c.queue.EnqueueMessage(ctx, "text", &azqueue.EnqueueMessageOptions{
					TimeToLive: each.ttl, VisibilityTimeout: each.visibility,
				})
				requireRefused(t, err, 400, each.code)
			})
		})
	}
}

func TestMessageMayBeginInvisible(t *testing.T) {
	conform(t, "PutMessage", func(t *T, c *client) {
		message := c.putWith(t, "later", &azqueue.EnqueueMessageOptions{VisibilityTimeout: to.Ptr(int32(2))})
		require.Equal(t, 2*time.Second, message.TimeNextVisible.Sub(*message.InsertionTime))
		require.Empty(t, c.texts(t))
		require.Empty(t, c.get(t, 1, 30))
		time.Sleep(3 * time.Second)
		require.Equal(t, []string{"later"}, c.texts(t))
	})
}

func TestMessageExpires(t *testing.T) {
	conform(t, "PutMessage", func(t *T, c *client) {
		message := c.putWith(t, "short", &azqueue.EnqueueMessageOptions{TimeToLive: to.Ptr(int32(1))})
		require.Equal(t, []string{"short"}, c.texts(t))
		time.Sleep(3 * time.Second)
		require.Empty(t, c.texts(t))
		require.Empty(t, c.get(t, 1, 30))
		_, err := c.queue.DeleteMessage(ctx, *message.MessageID, *message.PopReceipt, nil)
		requireRefused(t, err, 404, "MessageNotFound")
	})
}

func TestReceiptOfAPutIsGoodAtOnce(t *testing.T) {
	for name, use := range map[string]func(queue *azqueue.QueueClient, id, receipt string) error{
		"for delete": func(queue *azqueue.QueueClient, id, receipt string) error {
			_, err := queue.DeleteMessage(ctx, id, receipt, nil)
			return err
		},
		"for update": func(queue *azqueue.QueueClient, id, receipt string) error {
			_, err := queue.UpdateMessage(ctx, id, receipt, "changed", visibleIn(10))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "PutMessage", func(t *T, c *client) {
				message := c.put(t, "text")
				require.NoError(t, use(c.queue, *message.MessageID, *message.PopReceipt))
				require.Empty(t, c.texts(t))
			})
		})
	}
}
