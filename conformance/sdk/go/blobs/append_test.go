package blobs

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/stretchr/testify/require"
)

func (c *client) createAppendBlob(t *T, name string) *appendblob.Client {
	t.Helper()
	log := c.container.NewAppendBlobClient(name)
	_, err := log.Create(ctx, nil)
	require.NoError(t, err)
	return log
}

func appendText(t *T, log *appendblob.Client, text string) appendblob.AppendBlockResponse {
	t.Helper()
	response, err := log.AppendBlock(ctx, reader(text), nil)
	require.NoError(t, err)
	return response
}

func TestAppendBlobBeginsEmpty(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		log := c.container.NewAppendBlobClient("log")
		require.Equal(t, 201, status(t, func(ctx context.Context) error {
			return failure(log.Create(ctx, &appendblob.CreateOptions{
				HTTPHeaders: &blob.HTTPHeaders{BlobContentType: to.Ptr("text/plain")},
				Metadata:    map[string]*string{"a": to.Ptr("b")},
			}))
		}))
		found, err := log.GetProperties(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, blob.BlobTypeAppendBlob, *found.BlobType)
		require.Zero(t, *found.ContentLength)
		require.Zero(t, *found.BlobCommittedBlockCount)
		require.Equal(t, "text/plain", *found.ContentType)
		require.Equal(t, map[string]string{"a": "b"}, lowered(found.Metadata))
	})
}

func TestAppendsComeOneAfterAnother(t *testing.T) {
	conform(t, "AppendBlock", func(t *T, c *client) {
		log := c.createAppendBlob(t, "log")
		first := appendText(t, log, "one\n")
		require.Equal(t, "0", *first.BlobAppendOffset)
		require.Equal(t, int32(1), *first.BlobCommittedBlockCount)
		require.True(t, *first.IsServerEncrypted)
		second := appendText(t, log, "two\n")
		require.Equal(t, "4", *second.BlobAppendOffset)
		require.Equal(t, int32(2), *second.BlobCommittedBlockCount)
		require.NotEqual(t, *first.ETag, *second.ETag)
		text, answer := get(t, log, nil)
		require.Equal(t, "one\ntwo\n", text)
		require.Equal(t, *second.ETag, *answer.ETag)
		require.Equal(t, int32(2), *answer.BlobCommittedBlockCount)
		require.Empty(t, answer.ContentMD5)
	})
}

func TestAppendCondition(t *testing.T) {
	position := func(at int64) *appendblob.AppendPositionAccessConditions {
		return &appendblob.AppendPositionAccessConditions{AppendPosition: to.Ptr(at)}
	}
	size := func(most int64) *appendblob.AppendPositionAccessConditions {
		return &appendblob.AppendPositionAccessConditions{MaxSize: to.Ptr(most)}
	}
	for _, each := range []struct {
		name       string
		conditions *appendblob.AppendPositionAccessConditions
		code       string
	}{
		{"at the end", position(4), ""},
		{"before the end", position(0), "AppendPositionConditionNotMet"},
		{"beyond the end", position(5), "AppendPositionConditionNotMet"},
		{"within the size", size(6), ""},
		{"over the size", size(5), "MaxBlobSizeConditionNotMet"},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "AppendBlock", func(t *T, c *client) {
				log := c.createAppendBlob(t, "log")
				appendText(t, log, "1234")
				_, err := log.AppendBlock(ctx, reader("56"), &appendblob.AppendBlockOptions{
					AppendPositionAccessConditions: each.conditions,
				})
				if each.code == "" {
					require.NoError(t, err)
					return
				}
				requireRefused(t, err, 412, each.code)
				text, _ := get(t, log, nil)
				require.Equal(t, "1234", text)
			})
		})
	}
}

func TestAppendIfEtag(t *testing.T) {
	conform(t, "AppendBlock", func(t *T, c *client) {
		log := c.createAppendBlob(t, "log")
		etag := *appendText(t, log, "1").ETag
		conditioned := func(etag azcore.ETag) *appendblob.AppendBlockOptions {
			return &appendblob.AppendBlockOptions{AccessConditions: ifMatch(etag)}
		}
		require.NoError(t, failure(log.AppendBlock(ctx, reader("2"), conditioned(etag))))
		requireRefused(t, failure(log.AppendBlock(ctx, reader("3"), conditioned(etag))), 412, "ConditionNotMet")
	})
}

func TestAppendIsRefusedWithAWrongMd5(t *testing.T) {
	conform(t, "AppendBlock", func(t *T, c *client) {
		log := c.createAppendBlob(t, "log")
		options := &appendblob.AppendBlockOptions{TransactionalValidation: blob.TransferValidationTypeMD5(sum("other"))}
		requireRefused(t, failure(log.AppendBlock(ctx, reader("text"), options)), 400, "Md5Mismatch")
	})
}

func TestAppendToABlockBlobIsRefused(t *testing.T) {
	conform(t, "AppendBlock", func(t *T, c *client) {
		c.put(t, "b", "text")
		log := c.container.NewAppendBlobClient("b")
		requireRefused(t, failure(log.AppendBlock(ctx, reader("x"), nil)), 409, "InvalidBlobType")
	})
}

func TestAppendBlobHasNoBlockList(t *testing.T) {
	conform(t, "GetBlockList", func(t *T, c *client) {
		c.createAppendBlob(t, "log")
		err := failure(c.blob("log").GetBlockList(ctx, blockblob.BlockListTypeAll, nil))
		requireRefused(t, err, 409, "InvalidBlobType")
	})
}

func TestCreateOfAnAppendBlobEmptiesIt(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		log := c.createAppendBlob(t, "log")
		appendText(t, log, "old")
		c.createAppendBlob(t, "log")
		text, _ := get(t, log, nil)
		require.Empty(t, text)
	})
}

func TestConcurrentAppendsAreAllThere(t *testing.T) {
	conform(t, "AppendBlock", func(t *T, c *client) {
		const writers, lines = 4, 10
		log := c.createAppendBlob(t, "log")
		failures := make(chan error, writers)
		for writer := range writers {
			go func() {
				var err error
				for line := 0; line < lines && err == nil; line++ {
					_, err = log.AppendBlock(ctx, reader(fmt.Sprintf("%d:%d\n", writer, line)), nil)
				}
				failures <- err
			}()
		}
		for range writers {
			require.NoError(t, <-failures)
		}
		text, answer := get(t, log, nil)
		require.Equal(t, int32(writers*lines), *answer.BlobCommittedBlockCount)
		next := map[string]int{}
		for _, line := range strings.Fields(text) {
			writer, number, _ := strings.Cut(line, ":")
			require.Equal(t, strconv.Itoa(next[writer]), number)
			next[writer]++
		}
		require.Len(t, next, writers)
	})
}
