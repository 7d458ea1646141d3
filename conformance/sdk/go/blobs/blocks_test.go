package blobs

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/stretchr/testify/require"
)

func blockID(number int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "block-%05d", number))
}

// stage puts a block under a number.
func (c *client) stage(t *T, name string, number int, text string) {
	t.Helper()
	_, err := c.blob(name).StageBlock(ctx, blockID(number), reader(text), nil)
	require.NoError(t, err)
}

// commit makes a blob of the blocks with these numbers.
func (c *client) commit(t *T, name string, numbers ...int) blockblob.CommitBlockListResponse {
	t.Helper()
	ids := []string{}
	for _, number := range numbers {
		ids = append(ids, blockID(number))
	}
	response, err := c.blob(name).CommitBlockList(ctx, ids, nil)
	require.NoError(t, err)
	return response
}

// blocks lists the committed and the uncommitted blocks, as id and size.
func (c *client) blocks(t *T, name string) (committed, uncommitted []string) {
	t.Helper()
	response, err := c.blob(name).GetBlockList(ctx, blockblob.BlockListTypeAll, nil)
	require.NoError(t, err)
	show := func(blocks []*blockblob.Block) []string {
		shown := []string{}
		for _, block := range blocks {
			shown = append(shown, fmt.Sprintf("%s %d", *block.Name, *block.Size))
		}
		return shown
	}
	return show(response.CommittedBlocks), show(response.UncommittedBlocks)
}

func shown(number, size int) string {
	return fmt.Sprintf("%s %d", blockID(number), size)
}

func TestBlockIsStaged(t *testing.T) {
	conform(t, "PutBlock", func(t *T, c *client) {
		response, _, err := exchange(t, nil, func(ctx context.Context) error {
			return failure(c.blob("b").StageBlock(ctx, blockID(1), reader("text"), nil))
		})
		require.NoError(t, err)
		require.Equal(t, 201, response.StatusCode)
		require.Empty(t, response.Header.Get("ETag"))
		require.Empty(t, response.Header.Get("Last-Modified"))
		require.Equal(t, "true", response.Header.Get("x-ms-request-server-encrypted"))
	})
}

func TestStagedBlocksAreNoBlobYet(t *testing.T) {
	conform(t, "PutBlock", func(t *T, c *client) {
		c.stage(t, "b", 1, "text")
		requireRefused(t, failure(c.blob("b").GetProperties(ctx, nil)), 404, "BlobNotFound")
		require.Empty(t, c.names(t, nil))
		require.Equal(t, []string{"b"}, c.names(t, &container.ListBlobsFlatOptions{
			Include: container.ListBlobsInclude{UncommittedBlobs: true},
		}))
		committed, uncommitted := c.blocks(t, "b")
		require.Empty(t, committed)
		require.Equal(t, []string{shown(1, 4)}, uncommitted)
	})
}

func TestBlockListMakesTheBlob(t *testing.T) {
	conform(t, "PutBlockList", func(t *T, c *client) {
		c.stage(t, "b", 1, "one,")
		c.stage(t, "b", 2, "two,")
		c.stage(t, "b", 3, "three")
		made := c.commit(t, "b", 1, 2, 3)
		require.Equal(t, "one,two,three", c.text(t, "b"))
		found := c.properties(t, "b")
		require.Equal(t, *made.ETag, *found.ETag)
		require.Equal(t, int64(13), *found.ContentLength)
		require.Empty(t, found.ContentMD5, "the digest of a list of blocks is not computed")
		committed, uncommitted := c.blocks(t, "b")
		require.Equal(t, []string{shown(1, 4), shown(2, 4), shown(3, 5)}, committed)
		require.Empty(t, uncommitted)
	})
}

func TestBlockListDecidesTheOrder(t *testing.T) {
	conform(t, "PutBlockList", func(t *T, c *client) {
		c.stage(t, "b", 1, "a")
		c.stage(t, "b", 2, "b")
		c.commit(t, "b", 2, 1, 2, 2)
		require.Equal(t, "babb", c.text(t, "b"))
	})
}

func TestBlockListMixesOldAndNewBlocks(t *testing.T) {
	conform(t, "PutBlockList", func(t *T, c *client) {
		for number, text := range []string{"a", "b", "c"} {
			c.stage(t, "b", number, text)
		}
		c.commit(t, "b", 0, 1, 2)
		c.stage(t, "b", 1, "B")
		c.stage(t, "b", 9, "!")
		require.Equal(t, "abc", c.text(t, "b"))
		c.commit(t, "b", 2, 1, 9, 0)
		require.Equal(t, "cB!a", c.text(t, "b"))
	})
}

func TestBlockThatIsStagedAgainIsReplaced(t *testing.T) {
	conform(t, "PutBlock", func(t *T, c *client) {
		c.stage(t, "b", 1, "first")
		c.stage(t, "b", 1, "2nd")
		c.commit(t, "b", 1)
		require.Equal(t, "2nd", c.text(t, "b"))
	})
}

func TestBlocksThatAreNotListedAreForgotten(t *testing.T) {
	conform(t, "PutBlockList", func(t *T, c *client) {
		c.stage(t, "b", 1, "kept")
		c.stage(t, "b", 2, "forgotten")
		c.commit(t, "b", 1)
		_, uncommitted := c.blocks(t, "b")
		require.Empty(t, uncommitted)
		_, err := c.blob("b").CommitBlockList(ctx, []string{blockID(2)}, nil)
		requireRefused(t, err, 400, "InvalidBlockList")
		require.Equal(t, "kept", c.text(t, "b"))
	})
}

func TestPutBlobForgetsStagedBlocks(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		c.stage(t, "b", 1, "staged")
		c.put(t, "b", "whole")
		committed, uncommitted := c.blocks(t, "b")
		require.Empty(t, committed)
		require.Empty(t, uncommitted)
	})
}

func TestEmptyBlockListMakesAnEmptyBlob(t *testing.T) {
	conform(t, "PutBlockList", func(t *T, c *client) {
		c.commit(t, "b")
		require.Zero(t, *c.properties(t, "b").ContentLength)
		require.Empty(t, c.text(t, "b"))
	})
}

func TestBlockListSetsHeadersAndMetadata(t *testing.T) {
	conform(t, "PutBlockList", func(t *T, c *client) {
		c.stage(t, "b", 1, "text")
		_, err := c.blob("b").CommitBlockList(ctx, []string{blockID(1)}, &blockblob.CommitBlockListOptions{
			HTTPHeaders: everyHeader(sum("text")), Metadata: map[string]*string{"a": to.Ptr("b")},
		})
		require.NoError(t, err)
		found := c.properties(t, "b")
		require.Equal(t, *everyHeader(sum("text")), blob.ParseHTTPHeaders(found))
		require.Equal(t, map[string]string{"a": "b"}, lowered(found.Metadata))
		c.commit(t, "b", 1)
		require.Empty(t, c.properties(t, "b").Metadata)
	})
}

func TestUncommittedBlocksAreSortedById(t *testing.T) {
	conform(t, "GetBlockList", func(t *T, c *client) {
		for _, number := range []int{3, 1, 2} {
			c.stage(t, "b", number, "x")
		}
		_, uncommitted := c.blocks(t, "b")
		require.Equal(t, []string{shown(1, 1), shown(2, 1), shown(3, 1)}, uncommitted)
	})
}

func TestBlockListOfOneKind(t *testing.T) {
	for kind, counts := range map[blockblob.BlockListType][2]int{
		blockblob.BlockListTypeCommitted: {1, 0}, blockblob.BlockListTypeUncommitted: {0, 2},
		blockblob.BlockListTypeAll: {1, 2},
	} {
		t.Run(string(kind), func(t *testing.T) {
			conform(t, "GetBlockList", func(t *T, c *client) {
				c.stage(t, "b", 1, "text")
				made := c.commit(t, "b", 1)
				c.stage(t, "b", 2, "x")
				c.stage(t, "b", 3, "y")
				found, err := c.blob("b").GetBlockList(ctx, kind, nil)
				require.NoError(t, err)
				require.Equal(t, counts, [2]int{len(found.CommittedBlocks), len(found.UncommittedBlocks)})
				require.Equal(t, *made.ETag, *found.ETag)
				require.Equal(t, int64(4), *found.BlobContentLength)
			})
		})
	}
}

func TestBlockIsRefused(t *testing.T) {
	for _, each := range []struct {
		name  string
		stage func(c *client) error
		code  string
	}{
		{"with an id of another length", func(c *client) error {
			return failure(c.blob("b").StageBlock(ctx, "c2hvcnQ=", reader("text"), nil))
		}, "InvalidBlobOrBlock"},
		{"with a wrong md5", func(c *client) error {
			options := &blockblob.StageBlockOptions{TransactionalValidation: blob.TransferValidationTypeMD5(sum("other"))}
			return failure(c.blob("b").StageBlock(ctx, blockID(2), reader("text"), options))
		}, "Md5Mismatch"},
		{"with a wrong crc64", func(c *client) error {
			options := &blockblob.StageBlockOptions{TransactionalValidation: blob.TransferValidationTypeCRC64(1)}
			return failure(c.blob("b").StageBlock(ctx, blockID(2), reader("text"), options))
		}, "Crc64Mismatch"},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "PutBlock", func(t *T, c *client) {
				c.stage(t, "b", 1, "text")
				requireRefused(t, each.stage(c), 400, each.code)
			})
		})
	}
}

func TestBlockOfAComputedCrc64IsStaged(t *testing.T) {
	conform(t, "PutBlock", func(t *T, c *client) {
		options := &blockblob.StageBlockOptions{TransactionalValidation: blob.TransferValidationTypeComputeCRC64()}
		_, err := c.blob("b").StageBlock(ctx, blockID(1), reader("text"), options)
		require.NoError(t, err)
	})
}

func TestBlockOnAnAppendBlobIsRefused(t *testing.T) {
	conform(t, "PutBlock", func(t *T, c *client) {
		c.createAppendBlob(t, "log")
		requireRefused(t, failure(c.blob("log").StageBlock(ctx, blockID(1), reader("x"), nil)), 409, "InvalidBlobType")
	})
}
