package tables

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

var oddKeys = []struct{ name, key string }{
	{"an apostrophe", "o'b"},
	{"two apostrophes", "''"},
	{"a double quote", `say "hi"`},
	{"a space", "a b"},
	{"outer spaces", " a "},
	{"a percent sign", "100%"},
	{"a percent escape", "%2F%27"},
	{"a plus", "1+1"},
	{"an ampersand and an equals sign", "a&b=c"},
	{"parentheses and a comma", "f(x,y)"},
	{"a key predicate", "',RowKey='x"},
	{"other punctuation", "!$*:;@[]{}|^~`<>.,_-"},
	{"accents", "žluťoučký kůň"},
	{"an emoji", "\U0001F600"},
	{"upper and lower case", "aA"},
}

func TestEveryOperationTakesKeyWith(t *testing.T) {
	for _, each := range oddKeys {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "QueryEntity", func(t *T, c *client) {
				key := each.key
				c.add(t, rawRow(t, key, key, properties{"Value": "1"}))
				_, err := c.table.UpdateEntity(ctx, rawRow(t, key, key, properties{"Merged": "1"}), merging)
				require.NoError(t, err)
				_, err = c.table.UpsertEntity(ctx, rawRow(t, key, key, properties{"Upserted": "1"}), upsertMerging)
				require.NoError(t, err)

				stored := c.get(t, key, key)
				require.Equal(t, []string{key, key}, []string{stored.PartitionKey, stored.RowKey})
				require.Equal(t, properties{"Value": "1", "Merged": "1", "Upserted": "1"}, stored.Properties)

				_, err = c.table.DeleteEntity(ctx, key, key, nil)
				require.NoError(t, err)
				require.Empty(t, c.list(t, nil))
			})
		})
	}
}

func TestEmptyRowKeyIsAKey(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		c.add(t, rawRow(t, "p", "", properties{"Value": "1"}))
		require.Equal(t, "1", c.get(t, "p", "").Properties["Value"])
		_, err := c.table.DeleteEntity(ctx, "p", "", nil)
		require.NoError(t, err)
	})
}

// The SDK refuses to put an empty PartitionKey into an address, but inserts and queries carry it elsewhere.
func TestEmptyPartitionKeyIsAKey(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		c.add(t, rawRow(t, "", "", properties{"Value": "1"}))
		entities := c.list(t, &aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq '' and RowKey eq ''")})
		require.Len(t, entities, 1)
		require.Equal(t, properties{"Value": "1"}, entities[0].Properties)
	})
}

func TestKeysThatDifferInCaseAreDifferent(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		c.add(t, rawRow(t, "p", "key", properties{"Value": "lower"}))
		c.add(t, rawRow(t, "p", "KEY", properties{"Value": "upper"}))
		require.Equal(t, "lower", c.get(t, "p", "key").Properties["Value"])
		require.Equal(t, "upper", c.get(t, "p", "KEY").Properties["Value"])
	})
}

func TestInsertRefusesKeyWith(t *testing.T) {
	forbidden := []struct{ name, key string }{
		{"a slash", "a/b"},
		{"a backslash", `a\b`},
		{"a hash", "a#b"},
		{"a question mark", "a?b"},
		{"a tab", "a\tb"},
		{"a line feed", "a\nb"},
		{"a zero", "a\x00b"},
		{"a delete character", "a\x7fb"},
		{"a c1 control character", "a\u0085b"},
	}
	for _, each := range forbidden {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "InsertEntity", func(t *T, c *client) {
				_, err := c.table.AddEntity(ctx, rawRow(t, each.key, "r", nil), nil)
				requireRefused(t, err, 400, string(aztables.OutOfRangeInput))
				_, err = c.table.AddEntity(ctx, rawRow(t, "p", each.key, nil), nil)
				requireRefused(t, err, 400, string(aztables.OutOfRangeInput))
			})
		})
	}
}

func TestUpsertRefusesKeyWith(t *testing.T) {
	forbidden := []struct {
		name, key string
		code      aztables.TableErrorCode
	}{
		{"a slash", "a/b", aztables.InvalidInput},
		{"a backslash", `a\b`, aztables.InvalidInput},
		{"a hash", "a#b", aztables.OutOfRangeInput},
		{"a question mark", "a?b", aztables.OutOfRangeInput},
	}
	for _, each := range forbidden {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "InsertOrReplaceEntity", func(t *T, c *client) {
				_, err := c.table.UpsertEntity(ctx, rawRow(t, "p", each.key, nil), upsertReplacing)
				requireRefused(t, err, 400, string(each.code))
			})
		})
	}
}

func TestInsertRefusesKeyOfAnotherType(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		_, err := c.table.AddEntity(ctx, encode(t, properties{"PartitionKey": "p", "RowKey": 7}), nil)
		requireRefusedWith(t, err, 400)
	})
}
