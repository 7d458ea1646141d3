package tables

// Writing and reading entities the way the SDK wants them, which is as JSON text.

import (
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

type properties = map[string]any

// row encodes an entity through the SDK's own entity type, which writes the type annotations. That type also
// doubles apostrophes in keys, so cases about keys use rawRow.
func row(t *T, partitionKey, rowKey string, values properties) []byte {
	t.Helper()
	entity := aztables.EDMEntity{Properties: values}
	entity.PartitionKey, entity.RowKey = partitionKey, rowKey
	return encode(t, entity)
}

// rawRow encodes an entity without the SDK's entity type, for keys it spoils and annotations it cannot write.
func rawRow(t *T, partitionKey, rowKey string, values properties) []byte {
	t.Helper()
	entity := properties{"PartitionKey": partitionKey, "RowKey": rowKey}
	for name, value := range values {
		entity[name] = value
	}
	return encode(t, entity)
}

func encode(t *T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

func decode(t *T, text []byte) aztables.EDMEntity {
	t.Helper()
	var entity aztables.EDMEntity
	require.NoError(t, json.Unmarshal(text, &entity))
	return entity
}

func decodeRaw(t *T, text []byte) properties {
	t.Helper()
	var entity properties
	require.NoError(t, json.Unmarshal(text, &entity))
	return entity
}

// add inserts an entity that has to be accepted.
func (c *client) add(t *T, entity []byte) aztables.AddEntityResponse {
	t.Helper()
	response, err := c.table.AddEntity(ctx, entity, nil)
	require.NoError(t, err)
	return response
}

func (c *client) get(t *T, partitionKey, rowKey string) aztables.EDMEntity {
	t.Helper()
	response, err := c.table.GetEntity(ctx, partitionKey, rowKey, nil)
	require.NoError(t, err)
	return decode(t, response.Value)
}

// list follows all pages of a query with the case's own client.
func (c *client) list(t *T, options *aztables.ListEntitiesOptions) []aztables.EDMEntity {
	t.Helper()
	return list(t, c.table, options)
}

func list(t *T, table *aztables.Client, options *aztables.ListEntitiesOptions) []aztables.EDMEntity {
	t.Helper()
	var entities []aztables.EDMEntity
	for pager := table.NewListEntitiesPager(options); pager.More(); {
		page, err := pager.NextPage(ctx)
		require.NoError(t, err)
		for _, text := range page.Entities {
			entities = append(entities, decode(t, text))
		}
	}
	return entities
}

// rowKeys names the entities of an answer in their order.
func rowKeys(entities []aztables.EDMEntity) []string {
	keys := make([]string, 0, len(entities))
	for _, entity := range entities {
		keys = append(keys, entity.RowKey)
	}
	return keys
}
