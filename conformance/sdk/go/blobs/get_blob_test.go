package blobs

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/stretchr/testify/require"

	"tablerock/conformance/sdk/go/harness"
)

func TestGetTellsWhatPropertiesTell(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		c.putWith(t, "b", "hello", &blockblob.UploadOptions{Metadata: map[string]*string{"Colour": to.Ptr("red")}})
		found := c.properties(t, "b")
		text, answer := get(t, c.blob("b"), nil)
		require.Equal(t, "hello", text)
		require.Equal(t, *found.ETag, *answer.ETag)
		require.Equal(t, *found.LastModified, *answer.LastModified)
		require.Equal(t, int64(5), *answer.ContentLength)
		require.Equal(t, sum("hello"), answer.ContentMD5)
		require.Nil(t, answer.ContentRange)
		require.Equal(t, blob.BlobTypeBlockBlob, *answer.BlobType)
		require.Equal(t, map[string]string{"colour": "red"}, lowered(answer.Metadata))
		require.Equal(t, *found.CreationTime, *answer.CreationTime)
	})
}

func TestRangeOf(t *testing.T) {
	for _, each := range []struct {
		name          string
		offset, count int64
		text, header  string
	}{
		{"the first byte", 0, 1, "0", "bytes 0-0/10"},
		{"some in the middle", 3, 4, "3456", "bytes 3-6/10"},
		{"the last byte", 9, 1, "9", "bytes 9-9/10"},
		{"all from an offset", 4, blob.CountToEnd, "456789", "bytes 4-9/10"},
		{"more than there is", 8, 100, "89", "bytes 8-9/10"},
		{"exactly all", 0, 10, "0123456789", "bytes 0-9/10"},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "GetBlob", func(t *T, c *client) {
				c.put(t, "b", "0123456789")
				options := &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: each.offset, Count: each.count}}
				require.Equal(t, 206, status(t, func(ctx context.Context) error {
					return failure(c.blob("b").DownloadStream(ctx, options))
				}))
				text, answer := get(t, c.blob("b"), options)
				require.Equal(t, each.text, text)
				require.Equal(t, each.header, *answer.ContentRange)
				require.Equal(t, int64(len(each.text)), *answer.ContentLength)
				require.Empty(t, answer.ContentMD5, "the digest of the whole is not that of a range")
				require.Equal(t, sum("0123456789"), answer.BlobContentMD5)
			})
		})
	}
}

func TestRangeTellsItsMd5WhenAsked(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		c.put(t, "b", "0123456789")
		text, answer := get(t, c.blob("b"), &blob.DownloadStreamOptions{
			Range: blob.HTTPRange{Offset: 2, Count: 3}, RangeGetContentMD5: to.Ptr(true),
		})
		require.Equal(t, "234", text)
		require.Equal(t, sum("234"), answer.ContentMD5)
		require.Equal(t, sum("0123456789"), answer.BlobContentMD5)
	})
}

func TestRangeBeyondTheEndIsRefused(t *testing.T) {
	for name, each := range map[string]struct {
		text, header string
		beyond       int64
	}{
		"at the end":       {"0123456789", "bytes */10", 0},
		"far away":         {"0123456789", "bytes */10", 100},
		"of an empty blob": {"", "bytes */0", 0},
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "GetBlob", func(t *T, c *client) {
				c.put(t, "b", each.text)
				response, _, err := exchange(t, nil, func(ctx context.Context) error {
					return failure(c.blob("b").DownloadStream(ctx, &blob.DownloadStreamOptions{
						Range: blob.HTTPRange{Offset: int64(len(each.text)) + each.beyond, Count: 1},
					}))
				})
				requireRefused(t, err, 416, "InvalidRange")
				require.Equal(t, each.header, response.Header.Get("Content-Range"))
			})
		})
	}
}

func TestStandardRangeHeaderWorksToo(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		c.put(t, "b", "0123456789")
		options := impatient()
		options.PerCallPolicies = []policy.Policy{harness.Header{Name: "Range", Value: "bytes=2-4"}}
		client, err := blockblob.NewClientWithSharedKeyCredential(
			c.blob("b").URL(), credential(t, c.account), &blockblob.ClientOptions{ClientOptions: options})
		require.NoError(t, err)
		text, answer := get(t, client, nil)
		require.Equal(t, "234", text)
		require.Equal(t, "bytes 2-4/10", *answer.ContentRange)
		text, _ = get(t, client, &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: 7, Count: 2}})
		require.Equal(t, "78", text, "x-ms-range wins over Range")
	})
}

func TestRefusedHeadCarriesItsCode(t *testing.T) {
	conform(t, "GetBlobProperties", func(t *T, c *client) {
		response, body, err := exchange(t, nil, func(ctx context.Context) error {
			return failure(c.blob("none").GetProperties(ctx, nil))
		})
		requireRefused(t, err, 404, "BlobNotFound")
		require.Empty(t, body)
		require.Equal(t, "BlobNotFound", response.Header.Get("x-ms-error-code"))
	})
}

func TestBlobServiceAnswersWithTheCommonHeaders(t *testing.T) {
	conform(t, "GetBlobProperties", func(t *T, c *client) {
		c.put(t, "b", "text")
		options := impatient()
		options.PerCallPolicies = []policy.Policy{harness.Header{Name: "x-ms-client-request-id", Value: "my-request"}}
		client, err := blockblob.NewClientWithSharedKeyCredential(
			c.blob("b").URL(), credential(t, c.account), &blockblob.ClientOptions{ClientOptions: options})
		require.NoError(t, err)
		response, _, err := exchange(t, nil, func(ctx context.Context) error {
			return failure(client.GetProperties(ctx, nil))
		})
		require.NoError(t, err)
		require.NotEmpty(t, response.Header.Get("x-ms-request-id"))
		require.NotEmpty(t, response.Header.Get("Date"))
		require.Equal(t, "my-request", response.Header.Get("x-ms-client-request-id"))
		require.Equal(t, response.Request.Header["x-ms-version"], response.Header.Values("x-ms-version"))
	})
}
