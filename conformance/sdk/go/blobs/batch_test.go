package blobs

import (
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/stretchr/testify/require"
)

func TestBatchOfTheServiceDeletesBlobs(t *testing.T) {
	conform(t, "BlobBatch", func(t *T, c *client) {
		other := c.newContainer(t)
		require.NoError(t, failure(c.service.NewContainerClient(other).NewBlockBlobClient("x y").Upload(ctx, reader("x"), nil)))
		c.putAll(t, "a", "b", "kept")
		batch, err := c.service.NewBatchBuilder()
		require.NoError(t, err)
		require.NoError(t, batch.Delete(c.name, "a", nil))
		require.NoError(t, batch.Delete(c.name, "b", nil))
		require.NoError(t, batch.Delete(other, "x y", nil))
		answer, err := c.service.SubmitBatch(ctx, batch, nil)
		require.NoError(t, err)
		require.Len(t, answer.Responses, 3)
		for _, part := range answer.Responses {
			require.NoError(t, part.Error)
			require.NotEmpty(t, *part.RequestID)
		}
		require.Equal(t, []string{"kept"}, c.names(t, nil))
	})
}

func TestBatchOfAContainerDeletesBlobs(t *testing.T) {
	conform(t, "BlobBatch", func(t *T, c *client) {
		batch, err := c.container.NewBatchBuilder()
		require.NoError(t, err)
		for i := range 20 {
			name := fmt.Sprintf("folder/%d", i)
			c.put(t, name, "text")
			require.NoError(t, batch.Delete(name, nil))
		}
		answer, err := c.container.SubmitBatch(ctx, batch, nil)
		require.NoError(t, err)
		require.Len(t, answer.Responses, 20)
		require.Empty(t, c.names(t, nil))
	})
}

func TestBatchTellsWhichPartsFailed(t *testing.T) {
	conform(t, "BlobBatch", func(t *T, c *client) {
		c.putAll(t, "a", "b", "c")
		c.snapshot(t, "c")
		batch, err := c.container.NewBatchBuilder()
		require.NoError(t, err)
		for _, name := range []string{"a", "none", "b", "c"} {
			require.NoError(t, batch.Delete(name, nil))
		}
		answer, err := c.container.SubmitBatch(ctx, batch, nil)
		require.NoError(t, err)
		parts := map[int]error{}
		for _, part := range answer.Responses {
			parts[*part.ContentID] = part.Error
		}
		require.Len(t, parts, 4)
		require.NoError(t, parts[0])
		requireRefused(t, parts[1], 404, "BlobNotFound")
		require.NoError(t, parts[2])
		requireRefused(t, parts[3], 409, "SnapshotsPresent")
		require.Equal(t, []string{"c"}, c.names(t, nil))
	})
}

func TestBatchDeletesWithOptions(t *testing.T) {
	conform(t, "BlobBatch", func(t *T, c *client) {
		c.putAll(t, "a", "b")
		c.snapshot(t, "a")
		batch, err := c.container.NewBatchBuilder()
		require.NoError(t, err)
		require.NoError(t, batch.Delete("a", &container.BatchDeleteOptions{
			DeleteOptions: *withSnapshots(blob.DeleteSnapshotsOptionTypeInclude),
		}))
		require.NoError(t, batch.Delete("b", &container.BatchDeleteOptions{
			DeleteOptions: blob.DeleteOptions{AccessConditions: ifMatch(staleETag)},
		}))
		answer, err := c.container.SubmitBatch(ctx, batch, nil)
		require.NoError(t, err)
		require.NoError(t, answer.Responses[0].Error)
		requireRefused(t, answer.Responses[1].Error, 412, "ConditionNotMet")
		require.Equal(t, []string{"b"}, c.names(t, nil))
	})
}

func TestBatchSetsTiers(t *testing.T) {
	conform(t, "BlobBatch", func(t *T, c *client) {
		c.putAll(t, "a", "b")
		batch, err := c.service.NewBatchBuilder()
		require.NoError(t, err)
		for _, name := range []string{"a", "b"} {
			require.NoError(t, batch.SetTier(c.name, name, blob.AccessTierCool, &service.BatchSetTierOptions{}))
		}
		_, err = c.service.SubmitBatch(ctx, batch, nil)
		require.NoError(t, err)
		require.Equal(t, "Cool", *c.properties(t, "b").AccessTier)
	})
}
