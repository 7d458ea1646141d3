package blobs

// Deletion of blobs, and snapshots, which decide what a deletion may take along.

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/stretchr/testify/require"
)

func (c *client) snapshot(t *T, name string) string {
	t.Helper()
	response, err := c.blob(name).CreateSnapshot(ctx, nil)
	require.NoError(t, err)
	return *response.Snapshot
}

// at is a client for one snapshot.
func (c *client) at(t *T, name, snapshot string) *blockblob.Client {
	t.Helper()
	client, err := c.blob(name).WithSnapshot(snapshot)
	require.NoError(t, err)
	return client
}

func withSnapshots(kind blob.DeleteSnapshotsOptionType) *blob.DeleteOptions {
	return &blob.DeleteOptions{DeleteSnapshots: to.Ptr(kind)}
}

func TestBlobIsDeleted(t *testing.T) {
	conform(t, "DeleteBlob", func(t *T, c *client) {
		c.put(t, "b", "text")
		require.Equal(t, 202, status(t, func(ctx context.Context) error { return failure(c.blob("b").Delete(ctx, nil)) }))
		requireRefused(t, failure(c.blob("b").GetProperties(ctx, nil)), 404, "BlobNotFound")
		requireRefused(t, failure(c.blob("b").Delete(ctx, nil)), 404, "BlobNotFound")
		require.Empty(t, c.names(t, nil))
	})
}

func TestSnapshotKeepsWhatWas(t *testing.T) {
	conform(t, "SnapshotBlob", func(t *T, c *client) {
		put := c.putWith(t, "b", "old", &blockblob.UploadOptions{
			HTTPHeaders: everyHeader(nil), Metadata: map[string]*string{"age": to.Ptr("old")},
		})
		var made blob.CreateSnapshotResponse
		require.Equal(t, 201, status(t, func(ctx context.Context) (err error) {
			made, err = c.blob("b").CreateSnapshot(ctx, nil)
			return err
		}))
		require.Equal(t, *put.ETag, *made.ETag)
		_, err := time.Parse("2006-01-02T15:04:05.0000000Z", *made.Snapshot)
		require.NoError(t, err)
		c.put(t, "b", "new")
		text, answer := get(t, c.at(t, "b", *made.Snapshot), nil)
		require.Equal(t, "old", text)
		require.Equal(t, "max-age=60", *answer.CacheControl)
		require.Equal(t, map[string]string{"age": "old"}, lowered(answer.Metadata))
		require.Equal(t, *put.ETag, *answer.ETag)
		require.Equal(t, "new", c.text(t, "b"))
	})
}

func TestSnapshotMayHaveMetadataOfItsOwn(t *testing.T) {
	conform(t, "SnapshotBlob", func(t *T, c *client) {
		c.putWith(t, "b", "text", &blockblob.UploadOptions{Metadata: map[string]*string{"of": to.Ptr("blob")}})
		made, err := c.blob("b").CreateSnapshot(ctx, &blob.CreateSnapshotOptions{
			Metadata: map[string]*string{"own": to.Ptr("snapshot")},
		})
		require.NoError(t, err)
		found, err := c.at(t, "b", *made.Snapshot).GetProperties(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"own": "snapshot"}, lowered(found.Metadata))
		require.Equal(t, map[string]string{"of": "blob"}, lowered(c.properties(t, "b").Metadata))
	})
}

func TestSnapshotsOfOneMomentDiffer(t *testing.T) {
	conform(t, "SnapshotBlob", func(t *T, c *client) {
		c.put(t, "b", "text")
		seen := map[string]bool{}
		for range 5 {
			seen[c.snapshot(t, "b")] = true
		}
		require.Len(t, seen, 5)
	})
}

func TestRangeOfASnapshot(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		c.put(t, "b", "0123456789")
		snapshot := c.snapshot(t, "b")
		c.put(t, "b", "changed")
		options := &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: 8, Count: 2}}
		text, _ := get(t, c.at(t, "b", snapshot), options)
		require.Equal(t, "89", text)
	})
}

func TestUnknownSnapshotIsNotFound(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		c.put(t, "b", "text")
		missing := c.at(t, "b", "2019-05-09T00:48:31.3653282Z")
		requireRefused(t, failure(missing.DownloadStream(ctx, nil)), 404, "BlobNotFound")
	})
}

func TestSnapshotCannotBeWritten(t *testing.T) {
	conform(t, "SetBlobMetadata", func(t *T, c *client) {
		c.put(t, "b", "text")
		snapshot := c.at(t, "b", c.snapshot(t, "b"))
		requireRefusedWith(t, failure(snapshot.SetMetadata(ctx, map[string]*string{"a": to.Ptr("b")}, nil)), 400)
	})
}

func TestBlobWithSnapshotsIsNotDeletedAlone(t *testing.T) {
	conform(t, "DeleteBlob", func(t *T, c *client) {
		c.put(t, "b", "text")
		c.snapshot(t, "b")
		requireRefused(t, failure(c.blob("b").Delete(ctx, nil)), 409, "SnapshotsPresent")
		require.Equal(t, "text", c.text(t, "b"))
	})
}

func TestDeletionOf(t *testing.T) {
	for _, each := range []struct {
		name      string
		remove    func(t *T, c *client, snapshot string) error
		remaining int
	}{
		{"one snapshot", func(t *T, c *client, snapshot string) error {
			return failure(c.at(t, "b", snapshot).Delete(ctx, nil))
		}, 2},
		{"only snapshots", func(t *T, c *client, snapshot string) error {
			return failure(c.blob("b").Delete(ctx, withSnapshots(blob.DeleteSnapshotsOptionTypeOnly)))
		}, 1},
		{"blob and snapshots", func(t *T, c *client, snapshot string) error {
			return failure(c.blob("b").Delete(ctx, withSnapshots(blob.DeleteSnapshotsOptionTypeInclude)))
		}, 0},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "DeleteBlob", func(t *T, c *client) {
				c.put(t, "b", "text")
				first := c.snapshot(t, "b")
				c.snapshot(t, "b")
				require.NoError(t, each.remove(t, c, first))
				items := c.list(t, &container.ListBlobsFlatOptions{Include: container.ListBlobsInclude{Snapshots: true}})
				require.Len(t, items, each.remaining)
			})
		})
	}
}

func TestSnapshotsOutliveAnOverwrite(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		c.put(t, "b", "old")
		snapshot := c.snapshot(t, "b")
		c.put(t, "b", "new")
		c.stage(t, "b", 1, "newer")
		c.commit(t, "b", 1)
		text, _ := get(t, c.at(t, "b", snapshot), nil)
		require.Equal(t, "old", text)
	})
}
