package tables

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

func action(kind aztables.TransactionType, entity []byte) aztables.TransactionAction {
	return aztables.TransactionAction{ActionType: kind, Entity: entity}
}

// matching adds a condition. Without one the SDK sends updates as upserts.
func matching(etag azcore.ETag, action aztables.TransactionAction) aztables.TransactionAction {
	action.IfMatch = to.Ptr(etag)
	return action
}

func TestTransactionTakesEveryKindOfOperation(t *testing.T) {
	conform(t, "EntityGroupTransaction", func(t *T, c *client) {
		for _, key := range []string{"merge", "replace", "delete", "upsert-merge", "upsert-replace"} {
			c.add(t, row(t, "p", key, properties{"Old": "1"}))
		}
		changed := properties{"New": "2"}
		_, err := c.table.SubmitTransaction(ctx, []aztables.TransactionAction{
			action(aztables.TransactionTypeAdd, row(t, "p", "add", changed)),
			matching(azcore.ETagAny, action(aztables.TransactionTypeUpdateMerge, row(t, "p", "merge", changed))),
			matching(azcore.ETagAny, action(aztables.TransactionTypeUpdateReplace, row(t, "p", "replace", changed))),
			action(aztables.TransactionTypeInsertMerge, row(t, "p", "upsert-merge", changed)),
			action(aztables.TransactionTypeInsertMerge, row(t, "p", "upsert-merge-new", changed)),
			action(aztables.TransactionTypeInsertReplace, row(t, "p", "upsert-replace", changed)),
			action(aztables.TransactionTypeInsertReplace, row(t, "p", "upsert-replace-new", changed)),
			action(aztables.TransactionTypeDelete, row(t, "p", "delete", nil)),
		}, nil)
		require.NoError(t, err)

		found := map[string]properties{}
		for _, entity := range c.list(t, nil) {
			found[entity.RowKey] = entity.Properties
		}
		merged := properties{"Old": "1", "New": "2"}
		require.Equal(t, map[string]properties{
			"add": changed, "merge": merged, "replace": changed, "upsert-merge": merged, "upsert-merge-new": changed,
			"upsert-replace": changed, "upsert-replace-new": changed,
		}, found)
	})
}

func TestTransactionKeepsEveryType(t *testing.T) {
	conform(t, "EntityGroupTransaction", func(t *T, c *client) {
		expected := properties{}
		for _, each := range values {
			expected[strings.ReplaceAll(each.name, " ", "_")] = each.value
		}
		_, err := c.table.SubmitTransaction(ctx, []aztables.TransactionAction{
			action(aztables.TransactionTypeAdd, row(t, "p", "add", expected)),
			action(aztables.TransactionTypeInsertMerge, row(t, "p", "merge", expected)),
		}, nil)
		require.NoError(t, err)
		require.Equal(t, expected, c.get(t, "p", "add").Properties)
		require.Equal(t, expected, c.get(t, "p", "merge").Properties)
	})
}

// The SDK does not double apostrophes in the addresses of a transaction, so those are left to other suites.
func TestTransactionTakesOddKeys(t *testing.T) {
	conform(t, "EntityGroupTransaction", func(t *T, c *client) {
		partition := "a b+c %2F&d=(é,\U0001F600)"
		var actions []aztables.TransactionAction
		var expected []string
		for _, each := range oddKeys {
			if !strings.Contains(each.key, "'") {
				expected = append(expected, each.key)
				actions = append(actions, action(aztables.TransactionTypeInsertReplace, rawRow(t, partition, each.key, nil)))
			}
		}
		_, err := c.table.SubmitTransaction(ctx, actions, nil)
		require.NoError(t, err)
		inPartition := &aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq '" + partition + "'")}
		require.ElementsMatch(t, expected, rowKeys(c.list(t, inPartition)))

		for i := range actions {
			actions[i].ActionType = aztables.TransactionTypeDelete
		}
		_, err = c.table.SubmitTransaction(ctx, actions, nil)
		require.NoError(t, err)
		require.Empty(t, c.list(t, nil))
	})
}

func TestTransactionTakesAHundredOperations(t *testing.T) {
	conform(t, "EntityGroupTransaction", func(t *T, c *client) {
		c.addMany(t, "p", 100)
		require.Len(t, c.list(t, nil), 100)
	})
}

func TestTransactionOfOneOperation(t *testing.T) {
	conform(t, "EntityGroupTransaction", func(t *T, c *client) {
		actions := []aztables.TransactionAction{action(aztables.TransactionTypeAdd, row(t, "p", "r", nil))}
		_, err := c.table.SubmitTransaction(ctx, actions, nil)
		require.NoError(t, err)
		c.get(t, "p", "r")
	})
}

func TestTransactionHonoursCurrentEtags(t *testing.T) {
	conform(t, "EntityGroupTransaction", func(t *T, c *client) {
		first := c.add(t, row(t, "p", "1", nil)).ETag
		second := c.add(t, row(t, "p", "2", nil)).ETag
		_, err := c.table.SubmitTransaction(ctx, []aztables.TransactionAction{
			matching(first, action(aztables.TransactionTypeUpdateReplace, row(t, "p", "1", properties{"New": "2"}))),
			matching(second, action(aztables.TransactionTypeDelete, row(t, "p", "2", nil))),
		}, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"1"}, rowKeys(c.list(t, nil)))
	})
}

func TestTransactionFailsOn(t *testing.T) {
	upsert := aztables.TransactionTypeInsertReplace
	cases := []struct {
		name     string
		failing  func(t *T) aztables.TransactionAction
		expected groupFailure
	}{
		{"an entity that exists", func(t *T) aztables.TransactionAction {
			return action(aztables.TransactionTypeAdd, row(t, "p", "present", nil))
		}, groupFailure{409, "EntityAlreadyExists", 2}},
		{"a merge of a missing entity", func(t *T) aztables.TransactionAction {
			return matching(azcore.ETagAny, action(aztables.TransactionTypeUpdateMerge, row(t, "p", "missing", nil)))
		}, groupFailure{404, "ResourceNotFound", 2}},
		{"a replace of a missing entity", func(t *T) aztables.TransactionAction {
			return matching(azcore.ETagAny, action(aztables.TransactionTypeUpdateReplace, row(t, "p", "missing", nil)))
		}, groupFailure{404, "ResourceNotFound", 2}},
		{"a delete of a missing entity", func(t *T) aztables.TransactionAction {
			return action(aztables.TransactionTypeDelete, row(t, "p", "missing", nil))
		}, groupFailure{404, "ResourceNotFound", 2}},
		{"a stale etag", func(t *T) aztables.TransactionAction {
			stale := azcore.ETag(`W/"datetime'2001-01-01T00%3A00%3A00Z'"`)
			return matching(stale, action(aztables.TransactionTypeUpdateReplace, row(t, "p", "present", nil)))
		}, groupFailure{412, "UpdateConditionNotSatisfied", 2}},
		{"a row that comes twice", func(t *T) aztables.TransactionAction {
			return action(upsert, row(t, "p", "second", nil))
		}, groupFailure{400, "InvalidDuplicateRow", 2}},
		{"another partition", func(t *T) aztables.TransactionAction {
			return action(upsert, row(t, "q", "third", nil))
		}, groupFailure{400, "CommandsInBatchActOnDifferentPartitions", 2}},
		{"a forbidden key character", func(t *T) aztables.TransactionAction {
			return action(aztables.TransactionTypeAdd, row(t, "p", "a#b", nil))
		}, groupFailure{400, "OutOfRangeInput", 2}},
		{"a property that is too large", func(t *T) aztables.TransactionAction {
			return action(aztables.TransactionTypeAdd, row(t, "p", "third", properties{"Value": strings.Repeat("x", 32769)}))
		}, groupFailure{400, "PropertyValueTooLarge", 2}},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "EntityGroupTransaction", func(t *T, c *client) {
				c.add(t, row(t, "p", "present", properties{"Old": "1"}))
				_, err := c.table.SubmitTransaction(ctx, []aztables.TransactionAction{
					action(aztables.TransactionTypeAdd, row(t, "p", "first", nil)),
					action(upsert, row(t, "p", "second", nil)),
					each.failing(t),
					action(aztables.TransactionTypeAdd, row(t, "p", "fourth", nil)),
				}, nil)
				require.Equal(t, each.expected, transactionFailure(t, err))
				require.Equal(t, []string{"present"}, rowKeys(c.list(t, nil)), "a failed transaction leaves nothing behind")
			})
		})
	}
}

func TestTransactionInMissingTableIsNotFound(t *testing.T) {
	conform(t, "EntityGroupTransaction", func(t *T, c *client) {
		actions := []aztables.TransactionAction{
			action(aztables.TransactionTypeAdd, row(t, "p", "1", nil)),
			action(aztables.TransactionTypeAdd, row(t, "p", "2", nil)),
		}
		_, err := c.service.NewClient(newTableName(t)).SubmitTransaction(ctx, actions, nil)
		require.Equal(t, groupFailure{404, "TableNotFound", 0}, transactionFailure(t, err))
	})
}

func TestTransactionOf101OperationsIsRefused(t *testing.T) {
	conform(t, "EntityGroupTransaction", func(t *T, c *client) {
		var actions []aztables.TransactionAction
		for i := range 101 {
			actions = append(actions, action(aztables.TransactionTypeAdd, row(t, "p", fmt.Sprint(i), nil)))
		}
		_, err := c.table.SubmitTransaction(ctx, actions, nil)
		failure := transactionFailure(t, err)
		// The service has been seen to blame the first operation and the hundredth.
		require.Contains(t, []int{0, 99}, failure.Index)
		failure.Index = 0
		require.Equal(t, groupFailure{400, "InvalidInput", 0}, failure)
		require.Empty(t, c.list(t, nil))
	})
}

func TestTransactionOverFourMebibytesIsRefused(t *testing.T) {
	conform(t, "EntityGroupTransaction", func(t *T, c *client) {
		var actions []aztables.TransactionAction
		for i := range 90 {
			large := properties{"Value": strings.Repeat("x", 25_000), "Other": strings.Repeat("y", 25_000)}
			actions = append(actions, action(aztables.TransactionTypeAdd, row(t, "p", fmt.Sprint(i), large)))
		}
		_, err := c.table.SubmitTransaction(ctx, actions, nil)
		requireRefused(t, err, 413, "RequestBodyTooLarge")
		require.Empty(t, c.list(t, nil))
	})
}
