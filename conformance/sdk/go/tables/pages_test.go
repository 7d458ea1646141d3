package tables

import (
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

func TestQueryOrdersByPartitionThenRow(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		keys := [][2]string{{"p10", "b"}, {"p2", "a"}, {"P2", "z"}, {"p10", "B"}, {"p1", "x"}, {"p10", "a10"}, {"p10", "a2"}}
		for _, key := range keys {
			c.add(t, row(t, key[0], key[1], nil))
		}
		var found []string
		for _, entity := range c.list(t, nil) {
			found = append(found, entity.PartitionKey+"/"+entity.RowKey)
		}
		require.Equal(t, []string{"P2/z", "p1/x", "p10/B", "p10/a10", "p10/a2", "p10/b", "p2/a"}, found)
	})
}

func TestQueryOfEmptyTableIsEmpty(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		page, err := c.table.NewListEntitiesPager(nil).NextPage(ctx)
		require.NoError(t, err)
		require.Empty(t, page.Entities)
		require.Nil(t, page.NextPartitionKey)
	})
}

func TestPageSizeBoundsEachPage(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		c.addMany(t, "p", 10)
		var sizes []int
		for pager := c.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Top: to.Ptr(int32(4))}); pager.More(); {
			page, err := pager.NextPage(ctx)
			require.NoError(t, err)
			sizes = append(sizes, len(page.Entities))
		}
		require.Equal(t, []int{4, 4, 2}, sizes)
	})
}

func TestFilteredPagesSkipAndRepeatNothing(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		c.addMany(t, "p", 50)
		entities := c.list(t, &aztables.ListEntitiesOptions{Top: to.Ptr(int32(3)), Filter: to.Ptr("Even eq true")})
		require.Len(t, entities, 25)
		for i, entity := range entities {
			require.Equal(t, fmt.Sprintf("%05d", 2*i), entity.RowKey)
		}
	})
}

func TestContinuationResumesInANewClient(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		// Keys that are awkward in a header and in an address.
		odd := []string{"a b+c", "dé'e", "f&g=%h"}
		for _, key := range odd {
			c.add(t, rawRow(t, key, key, nil))
		}
		options := &aztables.ListEntitiesOptions{Top: to.Ptr(int32(1))}
		var found []string
		for {
			other, err := aztables.NewServiceClientFromConnectionString(c.account.Connection, impatient())
			require.NoError(t, err)
			page, err := other.NewClient(c.name).NewListEntitiesPager(options).NextPage(ctx)
			require.NoError(t, err)
			for _, text := range page.Entities {
				found = append(found, decode(t, text).PartitionKey)
			}
			if page.NextPartitionKey == nil {
				break
			}
			options.NextPartitionKey, options.NextRowKey = page.NextPartitionKey, page.NextRowKey
		}
		require.Equal(t, odd, found)
	})
}

func TestContinuationSurvivesDeletionOfItsEntity(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		c.addMany(t, "p", 5)
		options := &aztables.ListEntitiesOptions{Top: to.Ptr(int32(2))}
		page, err := c.table.NewListEntitiesPager(options).NextPage(ctx)
		require.NoError(t, err)
		_, err = c.table.DeleteEntity(ctx, "p", "00002", nil)
		require.NoError(t, err)
		options.NextPartitionKey, options.NextRowKey = page.NextPartitionKey, page.NextRowKey
		require.Equal(t, []string{"00003", "00004"}, rowKeys(c.list(t, options)))
	})
}

func TestQueryReturnsMoreThanAThousandEntitiesInPages(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		c.addMany(t, "p", 1100)
		pager := c.table.NewListEntitiesPager(nil)
		page, err := pager.NextPage(ctx)
		require.NoError(t, err)
		require.Len(t, page.Entities, 1000)
		require.NotNil(t, page.NextPartitionKey)
		require.NotNil(t, page.NextRowKey)

		entities := c.list(t, nil)
		require.Len(t, entities, 1100)
		for i, entity := range entities {
			require.Equal(t, fmt.Sprintf("%05d", i), entity.RowKey)
		}
	})
}

func TestFilterReachesEntitiesBeyondTheFirstThousand(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		c.addMany(t, "p", 1100)
		require.Equal(t, []string{"01099"}, rowKeys(c.list(t, &aztables.ListEntitiesOptions{Filter: to.Ptr("Index eq 1099")})))
	})
}

func TestPageSizeIsRefused(t *testing.T) {
	for name, top := range map[string]int32{"above a thousand": 1001, "below zero": -1} {
		t.Run(name, func(t *testing.T) {
			conform(t, "QueryEntities", func(t *T, c *client) {
				_, err := c.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Top: to.Ptr(top)}).NextPage(ctx)
				requireRefused(t, err, 400, string(aztables.InvalidInput))
			})
		})
	}
}

// addMany fills a partition with numbered rows, a hundred to a transaction.
func (c *client) addMany(t *T, partitionKey string, count int) {
	t.Helper()
	for start := 0; start < count; start += 100 {
		var actions []aztables.TransactionAction
		for i := start; i < min(start+100, count); i++ {
			entity := row(t, partitionKey, fmt.Sprintf("%05d", i), properties{"Index": int32(i), "Even": i%2 == 0})
			actions = append(actions, aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: entity})
		}
		_, err := c.table.SubmitTransaction(ctx, actions, nil)
		require.NoError(t, err)
	}
}
