package tables

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

func TestEtagIsTheTimestamp(t *testing.T) {
	conform(t, "QueryEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", nil))
		response, err := c.table.GetEntity(ctx, "p", "r", nil)
		require.NoError(t, err)
		text, err := url.PathUnescape(string(response.ETag))
		require.NoError(t, err)
		raw := decodeRaw(t, response.Value)
		require.Equal(t, `W/"datetime'`+raw["Timestamp"].(string)+`'"`, text)
	})
}

// One write in ten would end in a zero, so this many show any that is left standing.
func TestTimestampHasNoTrailingZeros(t *testing.T) {
	conform(t, "InsertOrReplaceEntity", func(t *T, c *client) {
		for range 120 {
			response, err := c.table.UpsertEntity(ctx, row(t, "p", "r", nil), upsertReplacing)
			require.NoError(t, err)
			require.NotRegexp(t, `\.\d*0Z`, string(response.ETag))
		}
	})
}

func TestEveryWriteRaisesTheTimestamp(t *testing.T) {
	conform(t, "UpdateEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", nil))
		before := c.get(t, "p", "r")
		for range 20 {
			_, err := c.table.UpdateEntity(ctx, row(t, "p", "r", nil), replacing)
			require.NoError(t, err)
			after := c.get(t, "p", "r")
			require.True(t, time.Time(after.Timestamp).After(time.Time(before.Timestamp)))
			require.NotEqual(t, before.ETag, after.ETag)
			before = after
		}
	})
}

// conditional lists the writes that take an etag, each as a call with the tag to send.
var conditional = []struct {
	name, operation string
	write           func(t *T, c *client, etag azcore.ETag) error
}{
	{"replace", "UpdateEntity", func(t *T, c *client, etag azcore.ETag) error {
		options := &aztables.UpdateEntityOptions{IfMatch: &etag, UpdateMode: aztables.UpdateModeReplace}
		_, err := c.table.UpdateEntity(ctx, row(t, "p", "r", properties{"Written": true}), options)
		return err
	}},
	{"merge", "MergeEntity", func(t *T, c *client, etag azcore.ETag) error {
		options := &aztables.UpdateEntityOptions{IfMatch: &etag, UpdateMode: aztables.UpdateModeMerge}
		_, err := c.table.UpdateEntity(ctx, row(t, "p", "r", properties{"Written": true}), options)
		return err
	}},
	{"delete", "DeleteEntity", func(t *T, c *client, etag azcore.ETag) error {
		_, err := c.table.DeleteEntity(ctx, "p", "r", &aztables.DeleteEntityOptions{IfMatch: &etag})
		return err
	}},
}

func TestCurrentEtagIsAccepted(t *testing.T) {
	for _, each := range conditional {
		t.Run("by "+each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				etag := c.add(t, row(t, "p", "r", nil)).ETag
				require.NoError(t, each.write(t, c, etag))
			})
		})
	}
}

func TestStaleEtagIsRefused(t *testing.T) {
	for _, each := range conditional {
		t.Run("by "+each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				stale := c.add(t, row(t, "p", "r", nil)).ETag
				_, err := c.table.UpdateEntity(ctx, row(t, "p", "r", properties{"Newer": true}), replacing)
				require.NoError(t, err)
				requireRefused(t, each.write(t, c, stale), 412, string(aztables.UpdateConditionNotSatisfied))
				require.Equal(t, properties{"Newer": true}, c.get(t, "p", "r").Properties)
			})
		})
	}
}

func TestForeignWeakEtagIsRefused(t *testing.T) {
	for _, each := range conditional {
		t.Run("by "+each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				c.add(t, row(t, "p", "r", nil))
				requireRefused(t, each.write(t, c, `W/"wrong"`), 412, string(aztables.UpdateConditionNotSatisfied))
			})
		})
	}
}

func TestMalformedEtagIsRefused(t *testing.T) {
	for _, each := range conditional {
		t.Run("by "+each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				c.add(t, row(t, "p", "r", nil))
				requireRefused(t, each.write(t, c, "no-quotes"), 400, string(aztables.InvalidInput))
			})
		})
	}
}

func TestMissingEntityWinsOverTheEtag(t *testing.T) {
	for _, each := range conditional {
		t.Run("by "+each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				requireRefused(t, each.write(t, c, `W/"wrong"`), 404, string(aztables.ResourceNotFound))
			})
		})
	}
}

func TestEtagWithPlainColonsIsAccepted(t *testing.T) {
	conform(t, "UpdateEntity", func(t *T, c *client) {
		etag := c.add(t, row(t, "p", "r", nil)).ETag
		plain := azcore.ETag(strings.ReplaceAll(string(etag), "%3A", ":"))
		require.NoError(t, conditional[0].write(t, c, plain))
	})
}
