package tables

// The single-entity operations, one property of each at a time.

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

var (
	merging   = &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge}
	replacing = &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace}

	upsertMerging   = &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeMerge}
	upsertReplacing = &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}
)

func TestInsertReturnsTheStoredEntity(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		response := c.add(t, row(t, "p", "r", properties{"Name": "Ada"}))
		entity := decode(t, response.Value)
		require.Equal(t, []any{"p", "r", "Ada"}, []any{entity.PartitionKey, entity.RowKey, entity.Properties["Name"]})
		require.Equal(t, string(response.ETag), entity.ETag)
		require.Equal(t, entity, c.get(t, "p", "r"))
	})
}

func TestInsertTwiceIsRefused(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", properties{"Name": "Ada"}))
		_, err := c.table.AddEntity(ctx, row(t, "p", "r", properties{"Name": "Grace"}), nil)
		requireRefused(t, err, 409, string(aztables.EntityAlreadyExists))
		require.Equal(t, "Ada", c.get(t, "p", "r").Properties["Name"])
	})
}

func TestInsertIntoMissingTableIsNotFound(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		_, err := c.service.NewClient(newTableName(t)).AddEntity(ctx, row(t, "p", "r", nil), nil)
		requireRefused(t, err, 404, string(aztables.TableNotFound))
	})
}

func TestInsertWithoutRowKeyIsRefused(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		// The SDK replaces the service's error by one of its own, so the answer is read underneath it.
		response, body, err := exchange(t, nil, func(ctx context.Context) error {
			_, err := c.table.AddEntity(ctx, encode(t, properties{"PartitionKey": "p"}), nil)
			return err
		})
		require.Error(t, err)
		require.Equal(t, 400, response.StatusCode)
		require.Contains(t, string(body), aztables.PropertiesNeedValue)
	})
}

func TestInsertIgnoresTimestampOfTheClient(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		c.add(t, rawRow(t, "p", "r", properties{"Timestamp": "2001-02-03T04:05:06Z", "Timestamp@odata.type": "Edm.DateTime"}))
		stored := time.Time(c.get(t, "p", "r").Timestamp)
		require.WithinDuration(t, time.Now(), stored, 15*time.Minute)
	})
}

func TestInsertThroughTableNameInOtherCase(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		_, err := c.service.NewClient(strings.ToUpper(c.name)).AddEntity(ctx, row(t, "p", "r", nil), nil)
		require.NoError(t, err)
		c.get(t, "p", "r")
	})
}

func TestGetMissingEntityIsNotFound(t *testing.T) {
	conform(t, "QueryEntity", func(t *T, c *client) {
		_, err := c.table.GetEntity(ctx, "p", "r", nil)
		requireRefused(t, err, 404, string(aztables.ResourceNotFound))
	})
}

func TestGetFromMissingTableIsNotFound(t *testing.T) {
	conform(t, "QueryEntity", func(t *T, c *client) {
		_, err := c.service.NewClient(newTableName(t)).GetEntity(ctx, "p", "r", nil)
		requireRefused(t, err, 404, string(aztables.TableNotFound))
	})
}

func TestGetWithFullMetadataLinksTheEntity(t *testing.T) {
	conform(t, "QueryEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", properties{"Big": aztables.EDMInt64(1)}))
		response, err := c.table.GetEntity(ctx, "p", "r", &aztables.GetEntityOptions{Format: to.Ptr(aztables.MetadataFormatFull)})
		require.NoError(t, err)
		entity := decode(t, response.Value)
		link := c.name + "(PartitionKey='p',RowKey='r')"
		require.Equal(t, c.account.endpoint+"/$metadata#"+c.name+"/@Element", entity.Metadata)
		require.Equal(t, []string{c.account.Name + "." + c.name, c.account.endpoint + "/" + link, link},
			[]string{entity.Type, entity.ID, entity.EditLink})
		raw := decodeRaw(t, response.Value)
		require.Equal(t, "Edm.DateTime", raw["Timestamp@odata.type"])
		require.Equal(t, "Edm.Int64", raw["Big@odata.type"])
	})
}

func TestGetWithoutMetadataStillHasAnEtag(t *testing.T) {
	conform(t, "QueryEntity", func(t *T, c *client) {
		etag := c.add(t, row(t, "p", "r", properties{"Big": aztables.EDMInt64(1)})).ETag
		response, err := c.table.GetEntity(ctx, "p", "r", &aztables.GetEntityOptions{Format: to.Ptr(aztables.MetadataFormatNone)})
		require.NoError(t, err)
		require.Equal(t, etag, response.ETag)
		raw := decodeRaw(t, response.Value)
		delete(raw, "Timestamp")
		require.Equal(t, properties{"PartitionKey": "p", "RowKey": "r", "Big": "1"}, raw)
	})
}

func TestGetEchoesTheClientRequestId(t *testing.T) {
	conform(t, "QueryEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", nil))
		headers := http.Header{"X-Ms-Client-Request-Id": {"request-of-mine"}}
		response, _, err := exchange(t, headers, func(ctx context.Context) error {
			_, err := c.table.GetEntity(ctx, "p", "r", nil)
			return err
		})
		require.NoError(t, err)
		require.Equal(t, "request-of-mine", response.Header.Get("x-ms-client-request-id"))
		require.NotEmpty(t, response.Header.Get("x-ms-request-id"))
		require.Equal(t, "2019-02-02", response.Header.Get("x-ms-version"))
	})
}

func TestUpdateReplacesAllProperties(t *testing.T) {
	conform(t, "UpdateEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", properties{"Old": "1", "Both": "1"}))
		_, err := c.table.UpdateEntity(ctx, row(t, "p", "r", properties{"Both": "2", "New": "2"}), replacing)
		require.NoError(t, err)
		require.Equal(t, properties{"Both": "2", "New": "2"}, c.get(t, "p", "r").Properties)
	})
}

func TestUpdateMayChangeTheTypeOfAProperty(t *testing.T) {
	conform(t, "UpdateEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", properties{"Value": "text"}))
		_, err := c.table.UpdateEntity(ctx, row(t, "p", "r", properties{"Value": true}), replacing)
		require.NoError(t, err)
		require.Equal(t, true, c.get(t, "p", "r").Properties["Value"])
	})
}

func TestUpdateOfMissingEntityIsNotFound(t *testing.T) {
	conform(t, "UpdateEntity", func(t *T, c *client) {
		_, err := c.table.UpdateEntity(ctx, row(t, "p", "r", nil), replacing)
		requireRefused(t, err, 404, string(aztables.ResourceNotFound))
	})
}

func TestUpdateInMissingTableIsNotFound(t *testing.T) {
	conform(t, "UpdateEntity", func(t *T, c *client) {
		_, err := c.service.NewClient(newTableName(t)).UpdateEntity(ctx, row(t, "p", "r", nil), replacing)
		requireRefused(t, err, 404, string(aztables.TableNotFound))
	})
}

func TestMergeKeepsWhatIsNotSent(t *testing.T) {
	conform(t, "MergeEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", properties{"Old": "1", "Both": "1"}))
		_, err := c.table.UpdateEntity(ctx, row(t, "p", "r", properties{"Both": "2", "New": "2"}), merging)
		require.NoError(t, err)
		require.Equal(t, properties{"Old": "1", "Both": "2", "New": "2"}, c.get(t, "p", "r").Properties)
	})
}

func TestMergeIgnoresNull(t *testing.T) {
	conform(t, "MergeEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", properties{"Kept": "1"}))
		_, err := c.table.UpdateEntity(ctx, rawRow(t, "p", "r", properties{"Kept": nil}), merging)
		require.NoError(t, err)
		require.Equal(t, properties{"Kept": "1"}, c.get(t, "p", "r").Properties)
	})
}

func TestMergeOfMissingEntityIsNotFound(t *testing.T) {
	conform(t, "MergeEntity", func(t *T, c *client) {
		_, err := c.table.UpdateEntity(ctx, row(t, "p", "r", nil), merging)
		requireRefused(t, err, 404, string(aztables.ResourceNotFound))
	})
}

func TestUpsertReplaceInsertsThenReplaces(t *testing.T) {
	conform(t, "InsertOrReplaceEntity", func(t *T, c *client) {
		_, err := c.table.UpsertEntity(ctx, row(t, "p", "r", properties{"Old": "1"}), upsertReplacing)
		require.NoError(t, err)
		require.Equal(t, properties{"Old": "1"}, c.get(t, "p", "r").Properties)
		response, err := c.table.UpsertEntity(ctx, row(t, "p", "r", properties{"New": "2"}), upsertReplacing)
		require.NoError(t, err)
		stored := c.get(t, "p", "r")
		require.Equal(t, properties{"New": "2"}, stored.Properties)
		require.Equal(t, stored.ETag, string(response.ETag))
	})
}

func TestUpsertMergeInsertsThenMerges(t *testing.T) {
	conform(t, "InsertOrMergeEntity", func(t *T, c *client) {
		_, err := c.table.UpsertEntity(ctx, row(t, "p", "r", properties{"Old": "1"}), upsertMerging)
		require.NoError(t, err)
		response, err := c.table.UpsertEntity(ctx, row(t, "p", "r", properties{"New": "2"}), upsertMerging)
		require.NoError(t, err)
		stored := c.get(t, "p", "r")
		require.Equal(t, properties{"Old": "1", "New": "2"}, stored.Properties)
		require.Equal(t, stored.ETag, string(response.ETag))
	})
}

func TestUpsertIntoMissingTableIsNotFound(t *testing.T) {
	conform(t, "InsertOrMergeEntity", func(t *T, c *client) {
		_, err := c.service.NewClient(newTableName(t)).UpsertEntity(ctx, row(t, "p", "r", nil), upsertMerging)
		requireRefused(t, err, 404, string(aztables.TableNotFound))
	})
}

func TestDeleteRemovesTheEntity(t *testing.T) {
	conform(t, "DeleteEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", nil))
		_, err := c.table.DeleteEntity(ctx, "p", "r", nil)
		require.NoError(t, err)
		_, err = c.table.GetEntity(ctx, "p", "r", nil)
		requireRefused(t, err, 404, string(aztables.ResourceNotFound))
	})
}

func TestDeleteOfMissingEntityIsNotFound(t *testing.T) {
	conform(t, "DeleteEntity", func(t *T, c *client) {
		_, err := c.table.DeleteEntity(ctx, "p", "r", &aztables.DeleteEntityOptions{IfMatch: to.Ptr(azcore.ETagAny)})
		requireRefused(t, err, 404, string(aztables.ResourceNotFound))
	})
}

func TestDeleteFromMissingTableIsNotFound(t *testing.T) {
	conform(t, "DeleteEntity", func(t *T, c *client) {
		_, err := c.service.NewClient(newTableName(t)).DeleteEntity(ctx, "p", "r", nil)
		requireRefused(t, err, 404, string(aztables.TableNotFound))
	})
}
