package tables

// A table SAS may cover one contiguous range of keys.

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

func TestSasRangeHidesRowsFromAQuery(t *testing.T) {
	cases := []struct {
		name     string
		token    aztables.SASSignatureValues
		expected []string
	}{
		{"before a partition", aztables.SASSignatureValues{StartPartitionKey: "b"}, []string{"b1", "b2", "c1", "c2"}},
		{"after a partition", aztables.SASSignatureValues{EndPartitionKey: "b"}, []string{"a1", "a2", "b1", "b2"}},
		{"outside one partition", aztables.SASSignatureValues{
			StartPartitionKey: "b", EndPartitionKey: "b",
		}, []string{"b1", "b2"}},
		{"before a row", aztables.SASSignatureValues{StartPartitionKey: "b", StartRowKey: "b2"}, []string{"b2", "c1", "c2"}},
		{"after a row", aztables.SASSignatureValues{EndPartitionKey: "b", EndRowKey: "b1"}, []string{"a1", "a2", "b1"}},
		{"outside a range of rows", aztables.SASSignatureValues{
			StartPartitionKey: "a", StartRowKey: "a2", EndPartitionKey: "c", EndRowKey: "c1",
		}, []string{"a2", "b1", "b2", "c1"}},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				addGrid(t, c)
				each.token.Permissions = "r"
				require.Equal(t, each.expected, rowKeys(list(t, c.tableSAS(t, each.token), nil)))
			})
		})
	}
}

func TestSasRangeHidesRowsFromAGet(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		addGrid(t, c)
		table := c.tableSAS(t, aztables.SASSignatureValues{Permissions: "r", StartPartitionKey: "b", EndPartitionKey: "b"})
		_, err := table.GetEntity(ctx, "b", "b1", nil)
		require.NoError(t, err)
		_, err = table.GetEntity(ctx, "a", "a1", nil)
		requireRefused(t, err, 404, string(aztables.ResourceNotFound))
	})
}

func TestSasRangeRefusesWritesOutside(t *testing.T) {
	attempts := map[string]func(t *T, table *aztables.Client) error{
		"insert": func(t *T, table *aztables.Client) error {
			_, err := table.AddEntity(ctx, row(t, "a", "new", nil), nil)
			return err
		},
		"upsert": func(t *T, table *aztables.Client) error {
			_, err := table.UpsertEntity(ctx, row(t, "a", "a1", nil), upsertReplacing)
			return err
		},
		"merge": func(t *T, table *aztables.Client) error {
			_, err := table.UpdateEntity(ctx, row(t, "a", "a1", nil), merging)
			return err
		},
		"delete": func(t *T, table *aztables.Client) error {
			_, err := table.DeleteEntity(ctx, "a", "a1", nil)
			return err
		},
	}
	for name, attempt := range attempts {
		t.Run(name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				addGrid(t, c)
				inside := aztables.SASSignatureValues{Permissions: "raud", StartPartitionKey: "b", EndPartitionKey: "b"}
				requireRefused(t, attempt(t, c.tableSAS(t, inside)), 403, "AuthorizationFailure")
			})
		})
	}
}

func TestSasRangeAllowsWritesInside(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		table := c.tableSAS(t, aztables.SASSignatureValues{
			Permissions: "raud", StartPartitionKey: "b", StartRowKey: "b1", EndPartitionKey: "b", EndRowKey: "b9",
		})
		_, err := table.AddEntity(ctx, row(t, "b", "b5", nil), nil)
		require.NoError(t, err)
		_, err = table.UpsertEntity(ctx, row(t, "b", "b9", nil), upsertReplacing)
		require.NoError(t, err)
		_, err = table.DeleteEntity(ctx, "b", "b5", nil)
		require.NoError(t, err)
	})
}

// addGrid puts two rows into each of three partitions; rows are named after their partition.
func addGrid(t *T, c *client) {
	t.Helper()
	for _, partition := range []string{"a", "b", "c"} {
		for _, number := range []string{"1", "2"} {
			c.add(t, row(t, partition, partition+number, nil))
		}
	}
}
