package blobs

import (
	"context"
	"crypto/md5"
	"hash/crc64"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/stretchr/testify/require"
)

// everyHeader sets all six content headers that a blob has.
func everyHeader(digest []byte) *blob.HTTPHeaders {
	return &blob.HTTPHeaders{
		BlobContentType: to.Ptr("text/plain; charset=utf-8"), BlobContentEncoding: to.Ptr("identity"),
		BlobContentLanguage: to.Ptr("de"), BlobContentDisposition: to.Ptr(`attachment; filename="a b.txt"`),
		BlobCacheControl: to.Ptr("max-age=60"), BlobContentMD5: digest,
	}
}

func sum(text string) []byte {
	digest := md5.Sum([]byte(text))
	return digest[:]
}

func TestBlobIsPut(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		var put blockblob.UploadResponse
		require.Equal(t, 201, status(t, func(ctx context.Context) (err error) {
			put, err = c.blob("b").Upload(ctx, reader("hello"), nil)
			return err
		}))
		require.Regexp(t, `^".+"$`, string(*put.ETag))
		require.Equal(t, sum("hello"), put.ContentMD5)
		require.True(t, *put.IsServerEncrypted)
		require.WithinDuration(t, time.Now(), *put.LastModified, 15*time.Minute)
		require.Equal(t, "hello", c.text(t, "b"))
	})
}

func TestNewBlobTellsItsProperties(t *testing.T) {
	conform(t, "GetBlobProperties", func(t *T, c *client) {
		put := c.put(t, "b", "hello")
		found := c.properties(t, "b")
		require.Equal(t, *put.ETag, *found.ETag)
		require.Equal(t, *put.LastModified, *found.LastModified)
		require.Equal(t, int64(5), *found.ContentLength)
		require.Equal(t, "application/octet-stream", *found.ContentType)
		require.Equal(t, sum("hello"), found.ContentMD5)
		require.Equal(t, blob.BlobTypeBlockBlob, *found.BlobType)
		require.Equal(t, "bytes", *found.AcceptRanges)
		require.Equal(t, "available", orEmpty(found.LeaseState))
		require.Equal(t, "unlocked", orEmpty(found.LeaseStatus))
		require.Nil(t, found.LeaseDuration)
		require.Equal(t, "Hot", *found.AccessTier)
		require.True(t, *found.AccessTierInferred)
		require.True(t, *found.IsServerEncrypted)
		require.WithinDuration(t, *found.LastModified, *found.CreationTime, time.Second)
		require.Empty(t, found.Metadata)
		require.Nil(t, found.ContentEncoding)
		require.Nil(t, found.CopyID)
	})
}

func TestBlobKeepsItsContentHeaders(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		headers := everyHeader(sum("hello"))
		c.putWith(t, "b", "hello", &blockblob.UploadOptions{HTTPHeaders: headers})
		require.Equal(t, *headers, blob.ParseHTTPHeaders(c.properties(t, "b")))
		_, answer := get(t, c.blob("b"), nil)
		require.Equal(t, "text/plain; charset=utf-8", *answer.ContentType)
		require.Equal(t, "identity", *answer.ContentEncoding)
		require.Equal(t, "de", *answer.ContentLanguage)
		require.Equal(t, `attachment; filename="a b.txt"`, *answer.ContentDisposition)
		require.Equal(t, "max-age=60", *answer.CacheControl)
		require.Equal(t, sum("hello"), answer.ContentMD5)
	})
}

func TestBlobKeepsTheContent(t *testing.T) {
	every := make([]byte, 0, 256)
	for value := range 256 {
		every = append(every, byte(value))
	}
	for name, text := range map[string]string{
		"of no bytes": "", "of one byte": "x", "of every byte": string(every),
		"of a mebibyte": strings.Repeat("0123456789abcdef", 65536),
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "PutBlob", func(t *T, c *client) {
				put := c.put(t, "b", text)
				require.Equal(t, sum(text), put.ContentMD5)
				require.Equal(t, int64(len(text)), *c.properties(t, "b").ContentLength)
				require.True(t, text == c.text(t, "b"), "the content came back changed")
			})
		})
	}
}

func TestBlobIsFoundByName(t *testing.T) {
	for name, blobName := range map[string]string{
		"with slashes":              "a/b/c.txt",
		"with two slashes in a row": "a//b",
		"with a slash at its end":   "a/",
		"with blanks":               "a b  c",
		"with a plus":               "a+b",
		"with a percent sign":       "100%",
		"that looks escaped":        "a%2Fb",
		"with a question mark":      "what?",
		"with a hash":               "a#b",
		"with quotes and brackets":  `it's "(a)[b]{c}"`,
		"with other delimiters":     "a,b;c:d=e&f@g$h!i~j*k",
		"beyond ascii":              "Grüße/世界",
		"beyond the basic plane":    "🌍",
		"with dots":                 "a..b/.c",
		"of 1024 characters":        strings.Repeat("n", 1024),
		"that differs only in case": "READ.me",
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "PutBlob", func(t *T, c *client) {
				c.put(t, blobName, "text of "+blobName)
				c.put(t, "read.me", "another")
				require.Equal(t, "text of "+blobName, c.text(t, blobName))
				require.Contains(t, c.names(t, nil), blobName)
			})
		})
	}
}

func TestPutBlobReplacesAll(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		first := c.putWith(t, "b", "first", &blockblob.UploadOptions{
			Metadata: map[string]*string{"a": to.Ptr("b")}, HTTPHeaders: everyHeader(nil),
		})
		second := c.put(t, "b", "second")
		require.NotEqual(t, *first.ETag, *second.ETag)
		found := c.properties(t, "b")
		require.Empty(t, found.Metadata)
		require.Equal(t, "application/octet-stream", *found.ContentType)
		require.Nil(t, found.CacheControl)
		require.Equal(t, "second", c.text(t, "b"))
	})
}

func TestPutBlobDoesNotReplaceWhenToldSo(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		options := &blockblob.UploadOptions{AccessConditions: ifNoneMatch(azcore.ETagAny)}
		c.putWith(t, "b", "first", options)
		requireRefused(t, failure(c.blob("b").Upload(ctx, reader("second"), options)), 409, "BlobAlreadyExists")
		require.Equal(t, "first", c.text(t, "b"))
	})
}

func TestPutBlobChecksTheChecksum(t *testing.T) {
	polynomial := crc64.MakeTable(0x9A6C9329AC4BC9B5)
	for _, each := range []struct {
		name         string
		right, wrong blob.TransferValidationType
		code         string
	}{
		{"md5", blob.TransferValidationTypeMD5(sum("text")), blob.TransferValidationTypeMD5(sum("other")), "Md5Mismatch"},
		{"crc64", blob.TransferValidationTypeCRC64(crc64.Checksum([]byte("text"), polynomial)),
			blob.TransferValidationTypeCRC64(1), "Crc64Mismatch"},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "PutBlob", func(t *T, c *client) {
				c.putWith(t, "b", "text", &blockblob.UploadOptions{TransactionalValidation: each.right})
				_, err := c.blob("b").Upload(ctx, reader("text"), &blockblob.UploadOptions{TransactionalValidation: each.wrong})
				requireRefused(t, err, 400, each.code)
			})
		})
	}
}

func TestPutBlobStoresTheMd5ItIsTold(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		c.putWith(t, "b", "text", &blockblob.UploadOptions{HTTPHeaders: &blob.HTTPHeaders{BlobContentMD5: sum("text")}})
		require.Equal(t, sum("text"), c.properties(t, "b").ContentMD5)
	})
}

func TestBlobMetadataIsReplaced(t *testing.T) {
	conform(t, "SetBlobMetadata", func(t *T, c *client) {
		put := c.putWith(t, "b", "text", &blockblob.UploadOptions{Metadata: map[string]*string{"Zero": to.Ptr("0")}})
		require.Equal(t, map[string]string{"zero": "0"}, lowered(c.properties(t, "b").Metadata))
		etag := *put.ETag
		for _, metadata := range []map[string]*string{
			{"one": to.Ptr("1"), "two": to.Ptr("a b=c")}, {"two": to.Ptr("II")}, {},
		} {
			set, err := c.blob("b").SetMetadata(ctx, metadata, nil)
			require.NoError(t, err)
			require.NotEqual(t, etag, *set.ETag)
			etag = *set.ETag
			found := c.properties(t, "b")
			require.Equal(t, lowered(metadata), lowered(found.Metadata))
			require.Equal(t, etag, *found.ETag)
		}
		require.Equal(t, "text", c.text(t, "b"))
	})
}

func TestMetadataNamesAreSignedInTheServicesOrder(t *testing.T) {
	conform(t, "SetBlobMetadata", func(t *T, c *client) {
		metadata := map[string]*string{}
		for _, name := range []string{"a", "aa", "a1", "a_b", "ab", "b", "A2", "_c"} {
			metadata[name] = to.Ptr("of " + name)
		}
		c.put(t, "b", "text")
		require.NoError(t, failure(c.blob("b").SetMetadata(ctx, metadata, nil)))
		require.Equal(t, lowered(metadata), lowered(c.properties(t, "b").Metadata))
	})
}

func TestBlobPropertiesAreReplacedTogether(t *testing.T) {
	conform(t, "SetBlobProperties", func(t *T, c *client) {
		put := c.putWith(t, "b", "text", &blockblob.UploadOptions{
			HTTPHeaders: everyHeader(sum("text")), Metadata: map[string]*string{"kept": to.Ptr("yes")},
		})
		set, err := c.blob("b").SetHTTPHeaders(ctx, blob.HTTPHeaders{BlobContentType: to.Ptr("image/png")}, nil)
		require.NoError(t, err)
		require.NotEqual(t, *put.ETag, *set.ETag)
		found := c.properties(t, "b")
		require.Equal(t, "image/png", *found.ContentType)
		for _, cleared := range []*string{
			found.ContentEncoding, found.ContentLanguage, found.ContentDisposition, found.CacheControl,
		} {
			require.Empty(t, orEmpty(cleared))
		}
		require.Empty(t, found.ContentMD5)
		require.Equal(t, map[string]string{"kept": "yes"}, lowered(found.Metadata))
		require.Equal(t, "text", c.text(t, "b"))
	})
}

func TestMissingBlobIsNotFoundBy(t *testing.T) {
	for _, each := range []struct {
		operation, name string
		attempt         func(c *client) error
	}{
		{"GetBlob", "get", func(c *client) error { return failure(c.blob("none").DownloadStream(ctx, nil)) }},
		{"GetBlobProperties", "properties", func(c *client) error { return failure(c.blob("none").GetProperties(ctx, nil)) }},
		{"SetBlobMetadata", "set metadata", func(c *client) error { return failure(c.blob("none").SetMetadata(ctx, nil, nil)) }},
		{"SetBlobProperties", "set properties", func(c *client) error {
			return failure(c.blob("none").SetHTTPHeaders(ctx, *everyHeader(nil), nil))
		}},
		{"DeleteBlob", "delete", func(c *client) error { return failure(c.blob("none").Delete(ctx, nil)) }},
		{"SnapshotBlob", "snapshot", func(c *client) error { return failure(c.blob("none").CreateSnapshot(ctx, nil)) }},
		{"GetBlockList", "get block list", func(c *client) error {
			return failure(c.blob("none").GetBlockList(ctx, blockblob.BlockListTypeAll, nil))
		}},
		{"AppendBlock", "append", func(c *client) error {
			return failure(c.container.NewAppendBlobClient("none").AppendBlock(ctx, reader("text"), nil))
		}},
		{"AcquireBlobLease", "acquire lease", func(c *client) error {
			return failure(c.lease("none", "").AcquireLease(ctx, 15, nil))
		}},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				requireRefused(t, each.attempt(c), 404, "BlobNotFound")
			})
		})
	}
}
