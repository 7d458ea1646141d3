package blobs

// The SDK's own ways of moving much at once: blocks in parallel, streams, files, ranges in parallel.

import (
	"bytes"
	"crypto/md5"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/stretchr/testify/require"
)

const mebibyte = 1 << 20

// noise is content that no two places of look alike.
func noise(size int) []byte {
	content := make([]byte, size)
	_, _ = rand.New(rand.NewSource(int64(size))).Read(content)
	return content
}

func requireSame(t *T, expected, found []byte) {
	t.Helper()
	require.Equal(t, len(expected), len(found))
	require.True(t, bytes.Equal(expected, found), "the content came back changed")
}

func (c *client) download(t *T, name string, size int) []byte {
	t.Helper()
	buffer := make([]byte, size)
	count, err := c.blob(name).DownloadBuffer(ctx, buffer, &blob.DownloadBufferOptions{BlockSize: mebibyte, Concurrency: 5})
	require.NoError(t, err)
	return buffer[:count]
}

func TestUploadOfBlocksInParallel(t *testing.T) {
	conform(t, "PutBlock", func(t *T, c *client) {
		content := noise(20*mebibyte + 17)
		// The SDK sends what fits in 256 MiB at once, unless a stream hides its length.
		_, err := c.blob("b").UploadStream(ctx, bytes.NewReader(content), &blockblob.UploadStreamOptions{
			BlockSize: mebibyte, Concurrency: 5, Metadata: map[string]*string{"a": to.Ptr("b")},
		})
		require.NoError(t, err)
		committed, uncommitted := c.blocks(t, "b")
		require.Len(t, committed, 21)
		require.Empty(t, uncommitted)
		require.Equal(t, map[string]string{"a": "b"}, lowered(c.properties(t, "b").Metadata))
		requireSame(t, content, c.download(t, "b", len(content)))
	})
}

func TestUploadOfAStreamOf(t *testing.T) {
	for name, size := range map[string]int{
		"nothing": 0, "less than a block": 1000, "exactly one block": mebibyte, "exactly two blocks": 2 * mebibyte,
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "PutBlob", func(t *T, c *client) {
				content := noise(size)
				_, err := c.blob("b").UploadStream(ctx, io.MultiReader(bytes.NewReader(content)), &blockblob.UploadStreamOptions{
					BlockSize: mebibyte, Concurrency: 2,
				})
				require.NoError(t, err)
				require.Equal(t, int64(size), *c.properties(t, "b").ContentLength)
				found, _ := get(t, c.blob("b"), nil)
				requireSame(t, content, []byte(found))
			})
		})
	}
}

func TestUploadOfABufferAtOnce(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		content := noise(24 * mebibyte)
		_, err := c.blob("b").UploadBuffer(ctx, content, &blockblob.UploadBufferOptions{HTTPHeaders: everyHeader(nil)})
		require.NoError(t, err)
		digest := md5.Sum(content)
		require.Equal(t, digest[:], c.properties(t, "b").ContentMD5)
		requireSame(t, content, c.download(t, "b", len(content)))
	})
}

func TestFileGoesInAndComesOut(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		content := noise(5*mebibyte + 3)
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		source, err := os.Open(path)
		require.NoError(t, err)
		defer source.Close()
		_, err = c.blob("b").UploadFile(ctx, source, nil)
		require.NoError(t, err)
		target, err := os.Create(path + ".out")
		require.NoError(t, err)
		defer target.Close()
		count, err := c.blob("b").DownloadFile(ctx, target, &blob.DownloadFileOptions{BlockSize: mebibyte})
		require.NoError(t, err)
		require.Equal(t, int64(len(content)), count)
		found, err := os.ReadFile(target.Name())
		require.NoError(t, err)
		requireSame(t, content, found)
	})
}

func TestEmptyBlobIsDownloaded(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		c.put(t, "b", "")
		target, err := os.Create(filepath.Join(t.TempDir(), "file"))
		require.NoError(t, err)
		defer target.Close()
		count, err := c.blob("b").DownloadFile(ctx, target, nil)
		require.NoError(t, err)
		require.Zero(t, count)
	})
}

func TestPartOfABlobIsDownloadedInParallel(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		content := noise(8 * mebibyte)
		_, err := c.blob("b").UploadBuffer(ctx, content, nil)
		require.NoError(t, err)
		buffer := make([]byte, 5*mebibyte)
		_, err = c.blob("b").DownloadBuffer(ctx, buffer, &blob.DownloadBufferOptions{
			Range: blob.HTTPRange{Offset: mebibyte + 1, Count: 5 * mebibyte}, BlockSize: mebibyte, Concurrency: 4,
		})
		require.NoError(t, err)
		requireSame(t, content[mebibyte+1:][:5*mebibyte], buffer)
	})
}
