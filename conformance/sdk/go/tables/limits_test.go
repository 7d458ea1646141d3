package tables

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"

	"tablerock/conformance/sdk/go/harness"
)

func numbered(count int) properties {
	values := properties{}
	for i := range count {
		values[fmt.Sprintf("P%d", i)] = int32(i)
	}
	return values
}

func TestInsertAccepts(t *testing.T) {
	longKey := strings.Repeat("k", 512)
	cases := []struct {
		name   string
		key    string
		values properties
	}{
		{"252 properties", "r", numbered(252)},
		{"a string of 32768 characters", "r", properties{"Value": strings.Repeat("x", 32768)}},
		{"a binary of 65536 bytes", "r", properties{"Value": make(aztables.EDMBinary, 65536)}},
		{"a property name of 255 characters", "r", properties{strings.Repeat("n", 255): "x"}},
		{"a property name beyond ascii", "r", properties{"Größe_1": "x"}},
		{"keys of 512 characters", longKey, properties{"Value": "x"}},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "InsertEntity", func(t *T, c *client) {
				c.add(t, row(t, each.key, each.key, each.values))
				require.Equal(t, each.values, c.get(t, each.key, each.key).Properties)
			})
		})
	}
}

func TestInsertRefuses(t *testing.T) {
	large := properties{}
	for i := range 17 {
		large[fmt.Sprintf("P%d", i)] = strings.Repeat("x", 32768)
	}
	cases := []struct {
		name   string
		values properties
		code   aztables.TableErrorCode
	}{
		{"253 properties", numbered(253), aztables.TooManyProperties},
		{"a string of 32769 characters", properties{"Value": strings.Repeat("x", 32769)}, aztables.PropertyValueTooLarge},
		{"a string of 16385 emoji", properties{"Value": strings.Repeat("\U0001F600", 16385)}, aztables.PropertyValueTooLarge},
		{"a binary of 65537 bytes", properties{"Value": make(aztables.EDMBinary, 65537)}, aztables.PropertyValueTooLarge},
		{"a property name of 256 characters", properties{strings.Repeat("n", 256): "x"}, aztables.PropertyNameTooLong},
		{"a property name with a dash", properties{"a-b": "x"}, aztables.PropertyNameInvalid},
		{"a property name with a space", properties{"a b": "x"}, aztables.PropertyNameInvalid},
		{"a property name with a leading digit", properties{"1a": "x"}, aztables.PropertyNameInvalid},
		{"an entity over one mebibyte", large, aztables.EntityTooLarge},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "InsertEntity", func(t *T, c *client) {
				_, err := c.table.AddEntity(ctx, row(t, "p", "r", each.values), nil)
				requireRefused(t, err, 400, string(each.code))
				_, err = c.table.GetEntity(ctx, "p", "r", nil)
				require.True(t, harness.IsNotFound(err), "a refused entity is not stored")
			})
		})
	}
}

// The documents and the service disagree on the code, not on the refusal.
func TestInsertRefusesAKeyOf2048Characters(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		_, err := c.table.AddEntity(ctx, row(t, "p", strings.Repeat("k", 2048), nil), nil)
		requireRefusedWith(t, err, 400)
	})
}

func TestInsertRefusesABodyOverFourMebibytes(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		_, err := c.table.AddEntity(ctx, row(t, "p", "r", properties{"Value": strings.Repeat("x", 5<<20)}), nil)
		requireRefused(t, err, 413, "RequestBodyTooLarge")
	})
}

// Limits hold for what a merge leaves behind, not for what it sends.
func TestMergeCountsThePropertiesAlreadyThere(t *testing.T) {
	conform(t, "MergeEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", numbered(252)))
		_, err := c.table.UpdateEntity(ctx, row(t, "p", "r", properties{"OneMore": "x"}), merging)
		requireRefused(t, err, 400, string(aztables.TooManyProperties))
		require.Len(t, c.get(t, "p", "r").Properties, 252)
	})
}
