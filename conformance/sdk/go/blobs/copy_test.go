package blobs

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/stretchr/testify/require"
)

func TestCopyWithinTheAccount(t *testing.T) {
	conform(t, "CopyBlob", func(t *T, c *client) {
		source := c.putWith(t, "source", "text", &blockblob.UploadOptions{
			HTTPHeaders: everyHeader(nil), Metadata: map[string]*string{"a": to.Ptr("b")},
		})
		var copied blob.StartCopyFromURLResponse
		require.Equal(t, 202, status(t, func(ctx context.Context) (err error) {
			copied, err = c.blob("target").StartCopyFromURL(ctx, c.blob("source").URL(), nil)
			return err
		}))
		require.Equal(t, blob.CopyStatusTypeSuccess, *copied.CopyStatus)
		require.NotEmpty(t, *copied.CopyID)
		require.NotEqual(t, *source.ETag, *copied.ETag)
		require.Equal(t, "text", c.text(t, "target"))
		found := c.properties(t, "target")
		require.Equal(t, blob.ParseHTTPHeaders(c.properties(t, "source")), blob.ParseHTTPHeaders(found))
		require.Equal(t, map[string]string{"a": "b"}, lowered(found.Metadata))
		require.Equal(t, *copied.CopyID, *found.CopyID)
		require.Equal(t, blob.CopyStatusTypeSuccess, *found.CopyStatus)
		require.Equal(t, "4/4", *found.CopyProgress)
		require.Equal(t, c.blob("source").URL(), *found.CopySource)
		require.WithinDuration(t, time.Now(), *found.CopyCompletionTime, 15*time.Minute)
	})
}

func TestCopyFromAnotherContainer(t *testing.T) {
	conform(t, "CopyBlob", func(t *T, c *client) {
		other := c.service.NewContainerClient(c.newContainer(t)).NewBlockBlobClient("a/b c.txt")
		require.NoError(t, failure(other.Upload(ctx, reader("from elsewhere"), nil)))
		require.NoError(t, failure(c.blob("target").StartCopyFromURL(ctx, other.URL(), nil)))
		require.Equal(t, "from elsewhere", c.text(t, "target"))
	})
}

func TestCopyMayHaveMetadataOfItsOwn(t *testing.T) {
	conform(t, "CopyBlob", func(t *T, c *client) {
		c.putWith(t, "source", "text", &blockblob.UploadOptions{Metadata: map[string]*string{"of": to.Ptr("source")}})
		_, err := c.blob("target").StartCopyFromURL(ctx, c.blob("source").URL(), &blob.StartCopyFromURLOptions{
			Metadata: map[string]*string{"own": to.Ptr("target")},
		})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"own": "target"}, lowered(c.properties(t, "target").Metadata))
	})
}

func TestCopyIsItsOwnBlob(t *testing.T) {
	conform(t, "CopyBlob", func(t *T, c *client) {
		c.stage(t, "source", 1, "one")
		c.stage(t, "source", 2, "two")
		c.commit(t, "source", 1, 2)
		require.NoError(t, failure(c.blob("target").StartCopyFromURL(ctx, c.blob("source").URL(), nil)))
		require.NoError(t, failure(c.blob("source").Delete(ctx, nil)))
		require.Equal(t, "onetwo", c.text(t, "target"))
		committed, _ := c.blocks(t, "target")
		require.Equal(t, []string{shown(1, 3), shown(2, 3)}, committed)
	})
}

func TestSnapshotIsPromotedByACopy(t *testing.T) {
	conform(t, "CopyBlob", func(t *T, c *client) {
		c.put(t, "b", "old")
		snapshot := c.snapshot(t, "b")
		c.put(t, "b", "new")
		require.NoError(t, failure(c.blob("b").StartCopyFromURL(ctx, c.at(t, "b", snapshot).URL(), nil)))
		require.Equal(t, "old", c.text(t, "b"))
	})
}

func TestAppendBlobIsCopiedAsOne(t *testing.T) {
	conform(t, "CopyBlob", func(t *T, c *client) {
		appendText(t, c.createAppendBlob(t, "log"), "line")
		require.NoError(t, failure(c.blob("copy").StartCopyFromURL(ctx, c.blob("log").URL(), nil)))
		require.Equal(t, blob.BlobTypeAppendBlob, *c.properties(t, "copy").BlobType)
		require.Equal(t, "line", c.text(t, "copy"))
	})
}

func TestCopyOfAMissingBlobIsNotFound(t *testing.T) {
	conform(t, "CopyBlob", func(t *T, c *client) {
		err := failure(c.blob("target").StartCopyFromURL(ctx, c.blob("none").URL(), nil))
		requireRefusedWith(t, err, 404)
	})
}

func TestCopyIfTheSource(t *testing.T) {
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for _, each := range []struct {
		name       string
		conditions blob.SourceModifiedAccessConditions
		holds      bool
	}{
		{"has another etag", blob.SourceModifiedAccessConditions{SourceIfMatch: to.Ptr(staleETag)}, false},
		{"has not another etag", blob.SourceModifiedAccessConditions{SourceIfNoneMatch: to.Ptr(staleETag)}, true},
		{"was modified", blob.SourceModifiedAccessConditions{SourceIfModifiedSince: &past}, true},
		{"will be modified", blob.SourceModifiedAccessConditions{SourceIfModifiedSince: &future}, false},
		{"was not modified", blob.SourceModifiedAccessConditions{SourceIfUnmodifiedSince: &past}, false},
		{"will not be modified", blob.SourceModifiedAccessConditions{SourceIfUnmodifiedSince: &future}, true},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "CopyBlob", func(t *T, c *client) {
				c.put(t, "source", "text")
				_, err := c.blob("target").StartCopyFromURL(ctx, c.blob("source").URL(), &blob.StartCopyFromURLOptions{
					SourceModifiedAccessConditions: &each.conditions,
				})
				if each.holds {
					require.NoError(t, err)
				} else {
					requireRefused(t, err, 412, "SourceConditionNotMet")
				}
			})
		})
	}
}

func TestSynchronousCopyOfASignedSource(t *testing.T) {
	conform(t, "CopyBlobFromURL", func(t *T, c *client) {
		c.putWith(t, "source", "text", &blockblob.UploadOptions{HTTPHeaders: everyHeader(nil)})
		source := c.signedURL(t, sas.BlobSignatureValues{BlobName: "source", Permissions: "r"})
		copied, err := c.blob("target").CopyFromURL(ctx, source, nil)
		require.NoError(t, err)
		require.Equal(t, "success", *copied.CopyStatus)
		require.Equal(t, "text", c.text(t, "target"))
		require.Equal(t, "max-age=60", *c.properties(t, "target").CacheControl)
	})
}

func TestNothingIsThereToAbort(t *testing.T) {
	conform(t, "AbortCopyBlob", func(t *T, c *client) {
		c.put(t, "source", "text")
		copied, err := c.blob("target").StartCopyFromURL(ctx, c.blob("source").URL(), nil)
		require.NoError(t, err)
		err = failure(c.blob("target").AbortCopyFromURL(ctx, *copied.CopyID, nil))
		requireRefused(t, err, 409, "NoPendingCopyOperation")
	})
}
