package tables

// The Rust client of this repository and the SDK continue each other's work: its filters as text, and its pages.

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

// rustClient decodes what the client prints; CONFORMANCE_RUST_CLIENT names it as a program.
func rustClient(t *T, printed any, words ...string) {
	t.Helper()
	program := os.Getenv("CONFORMANCE_RUST_CLIENT")
	if program == "" {
		t.Skip("CONFORMANCE_RUST_CLIENT is not set")
	}
	command := exec.Command(program, words...)
	command.Stderr = os.Stderr
	text, err := command.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, printed))
}

func bothKeys(entity aztables.EDMEntity) [2]string {
	return [2]string{entity.PartitionKey, entity.RowKey}
}

func allKeys(t *T, c *client, options *aztables.ListEntitiesOptions) [][2]string {
	t.Helper()
	keys := [][2]string{}
	for _, entity := range c.list(t, options) {
		keys = append(keys, bothKeys(entity))
	}
	return keys
}

func TestFiltersOfTheRustClientFindTheSame(t *testing.T) {
	for _, group := range []string{"operators", "literals", "extremes", "keys", "nesting"} {
		t.Run(group, func(t *testing.T) {
			conform(t, "QueryEntities", func(t *T, c *client) {
				var filters []struct {
					Filter string
					Keys   [][2]string
				}
				rustClient(t, &filters, "filters", c.name, group)
				require.NotEmpty(t, filters)
				for _, told := range filters {
					found := allKeys(t, c, &aztables.ListEntitiesOptions{Filter: to.Ptr(told.Filter)})
					require.Equal(t, told.Keys, found, told.Filter)
				}
			})
		})
	}
}

func TestTheRustClientAndTheSDKPageInTurn(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		odd := []string{"plain", "o'clock", "''", "100%41", "a+b&c=d", " two  spaces ", "naïve 日本語", "😀;:@~"}
		for _, key := range odd {
			c.add(t, rawRow(t, key, key, nil))
		}
		var found [][2]string
		words := []string{"page", c.name, "2"}
		for {
			var theirs struct {
				Keys [][2]string
				Next *struct {
					Partition string
					Row       *string
				}
			}
			rustClient(t, &theirs, words...)
			found = append(found, theirs.Keys...)
			if theirs.Next == nil {
				break
			}
			options := &aztables.ListEntitiesOptions{
				Top: to.Ptr(int32(2)), NextPartitionKey: &theirs.Next.Partition, NextRowKey: theirs.Next.Row,
			}
			page, err := c.table.NewListEntitiesPager(options).NextPage(ctx)
			require.NoError(t, err)
			for _, text := range page.Entities {
				found = append(found, bothKeys(decode(t, text)))
			}
			if page.NextPartitionKey == nil {
				break
			}
			words = []string{"page", c.name, "2", *page.NextPartitionKey}
			if page.NextRowKey != nil {
				words = append(words, *page.NextRowKey)
			}
		}
		require.Equal(t, allKeys(t, c, nil), found)
		require.Len(t, found, len(odd))
	})
}
