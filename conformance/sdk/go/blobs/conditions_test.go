package blobs

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
	"github.com/stretchr/testify/require"
)

func conditions(modified blob.ModifiedAccessConditions) *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &modified}
}

func ifMatch(etag azcore.ETag) *blob.AccessConditions {
	return conditions(blob.ModifiedAccessConditions{IfMatch: &etag})
}

func ifNoneMatch(etag azcore.ETag) *blob.AccessConditions {
	return conditions(blob.ModifiedAccessConditions{IfNoneMatch: &etag})
}

// downloadIf makes an error of the 304 that the SDK takes for a success.
func (c *client) downloadIf(conditions *blob.AccessConditions) error {
	var answer *http.Response
	options := &blob.DownloadStreamOptions{AccessConditions: conditions}
	_, err := c.blob("b").DownloadStream(policy.WithCaptureResponse(ctx, &answer), options)
	if err == nil && answer.StatusCode == http.StatusNotModified {
		return runtime.NewResponseError(answer)
	}
	return err
}

const staleETag = azcore.ETag(`"0x8D6D4168BD4CB41"`)

// conditional lists every operation on a blob that takes conditions.
var conditional = []struct {
	operation, name string
	isRead          bool
	attempt         func(c *client, conditions *blob.AccessConditions) error
}{
	{"GetBlob", "get", true, func(c *client, conditions *blob.AccessConditions) error {
		return c.downloadIf(conditions)
	}},
	{"GetBlobProperties", "properties", true, func(c *client, conditions *blob.AccessConditions) error {
		return failure(c.blob("b").GetProperties(ctx, &blob.GetPropertiesOptions{AccessConditions: conditions}))
	}},
	{"PutBlob", "put", false, func(c *client, conditions *blob.AccessConditions) error {
		return failure(c.blob("b").Upload(ctx, reader("new"), &blockblob.UploadOptions{AccessConditions: conditions}))
	}},
	{"PutBlockList", "put block list", false, func(c *client, conditions *blob.AccessConditions) error {
		options := &blockblob.CommitBlockListOptions{AccessConditions: conditions}
		return failure(c.blob("b").CommitBlockList(ctx, nil, options))
	}},
	{"SetBlobMetadata", "set metadata", false, func(c *client, conditions *blob.AccessConditions) error {
		return failure(c.blob("b").SetMetadata(ctx, nil, &blob.SetMetadataOptions{AccessConditions: conditions}))
	}},
	{"SetBlobProperties", "set properties", false, func(c *client, conditions *blob.AccessConditions) error {
		options := &blob.SetHTTPHeadersOptions{AccessConditions: conditions}
		return failure(c.blob("b").SetHTTPHeaders(ctx, *everyHeader(nil), options))
	}},
	{"SnapshotBlob", "snapshot", false, func(c *client, conditions *blob.AccessConditions) error {
		return failure(c.blob("b").CreateSnapshot(ctx, &blob.CreateSnapshotOptions{AccessConditions: conditions}))
	}},
	{"DeleteBlob", "delete", false, func(c *client, conditions *blob.AccessConditions) error {
		return failure(c.blob("b").Delete(ctx, &blob.DeleteOptions{AccessConditions: conditions}))
	}},
	{"CopyBlob", "copy", false, func(c *client, conditions *blob.AccessConditions) error {
		options := &blob.StartCopyFromURLOptions{AccessConditions: conditions}
		return failure(c.blob("b").StartCopyFromURL(ctx, c.blob("source").URL(), options))
	}},
	{"AcquireBlobLease", "acquire lease", false, func(c *client, conditions *blob.AccessConditions) error {
		options := &lease.BlobAcquireOptions{ModifiedAccessConditions: conditions.ModifiedAccessConditions}
		return failure(c.lease("b", "").AcquireLease(ctx, 15, options))
	}},
}

// conditionKinds lists conditions that hold and that do not, for a blob that was written a moment ago.
var conditionKinds = []struct {
	name       string
	holds      bool
	conditions func(etag azcore.ETag) *blob.AccessConditions
}{
	{"its etag", true, ifMatch},
	{"any etag", true, func(azcore.ETag) *blob.AccessConditions { return ifMatch(azcore.ETagAny) }},
	{"a stale etag", false, func(azcore.ETag) *blob.AccessConditions { return ifMatch(staleETag) }},
	{"not a stale etag", true, func(azcore.ETag) *blob.AccessConditions { return ifNoneMatch(staleETag) }},
	{"not its etag", false, ifNoneMatch},
	{"modified since an hour ago", true, func(azcore.ETag) *blob.AccessConditions {
		return conditions(blob.ModifiedAccessConditions{IfModifiedSince: to.Ptr(time.Now().Add(-time.Hour))})
	}},
	{"modified since the next hour", false, func(azcore.ETag) *blob.AccessConditions {
		return conditions(blob.ModifiedAccessConditions{IfModifiedSince: to.Ptr(time.Now().Add(time.Hour))})
	}},
	{"unmodified since the next hour", true, func(azcore.ETag) *blob.AccessConditions {
		return conditions(blob.ModifiedAccessConditions{IfUnmodifiedSince: to.Ptr(time.Now().Add(time.Hour))})
	}},
	{"unmodified since an hour ago", false, func(azcore.ETag) *blob.AccessConditions {
		return conditions(blob.ModifiedAccessConditions{IfUnmodifiedSince: to.Ptr(time.Now().Add(-time.Hour))})
	}},
}

func TestBlobCondition(t *testing.T) {
	for _, each := range conditional {
		for _, kind := range conditionKinds {
			t.Run(fmt.Sprintf("%s if %s", each.name, kind.name), func(t *testing.T) {
				conform(t, each.operation, func(t *T, c *client) {
					c.put(t, "source", "source")
					put := c.put(t, "b", "text")
					checkCondition(t, each.attempt(c, kind.conditions(*put.ETag)), kind.holds, each.isRead && isNegative(kind.name))
				})
			})
		}
	}
}

// isNegative tells the conditions that ask for a change: a read that finds none is not modified rather than refused.
func isNegative(kind string) bool {
	return kind == "not its etag" || kind == "modified since the next hour"
}

func checkCondition(t *T, err error, holds, isUnmodified bool) {
	t.Helper()
	switch {
	case holds:
		require.NoError(t, err)
	case isUnmodified:
		requireRefused(t, err, 304, "ConditionNotMet")
	default:
		requireRefused(t, err, 412, "ConditionNotMet", "TargetConditionNotMet") // The latter for copies only.
	}
}

func TestEtagMayLackItsQuotes(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		etag := *c.put(t, "b", "text").ETag
		bare := etag[1 : len(etag)-1]
		require.NoError(t, failure(c.blob("b").GetProperties(ctx, &blob.GetPropertiesOptions{AccessConditions: ifMatch(bare)})))
	})
}

func TestReadPassesWhenEitherChangeIsThere(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		etag := *c.put(t, "b", "text").ETag
		options := &blob.GetPropertiesOptions{AccessConditions: conditions(blob.ModifiedAccessConditions{
			IfNoneMatch: &etag, IfModifiedSince: to.Ptr(time.Now().Add(-time.Hour)),
		})}
		require.NoError(t, failure(c.blob("b").GetProperties(ctx, options)))
	})
}

func TestMissingBlobMatchesNoEtag(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		options := &blockblob.UploadOptions{AccessConditions: ifMatch(staleETag)}
		requireRefused(t, failure(c.blob("none").Upload(ctx, reader("text"), options)), 412, "ConditionNotMet")
		err := failure(c.blob("none").Delete(ctx, &blob.DeleteOptions{AccessConditions: ifMatch(staleETag)}))
		requireRefusedWith(t, err, 404, 412)
	})
}

func TestCreationOnlyIfAbsentIsRefusedBy(t *testing.T) {
	for _, each := range []struct {
		operation, name string
		attempt         func(c *client) error
	}{
		{"PutBlockList", "put block list", func(c *client) error {
			options := &blockblob.CommitBlockListOptions{AccessConditions: ifNoneMatch(azcore.ETagAny)}
			return failure(c.blob("b").CommitBlockList(ctx, nil, options))
		}},
		{"CopyBlob", "copy", func(c *client) error {
			options := &blob.StartCopyFromURLOptions{AccessConditions: ifNoneMatch(azcore.ETagAny)}
			return failure(c.blob("b").StartCopyFromURL(ctx, c.blob("source").URL(), options))
		}},
		{"PutBlob", "create append blob", func(c *client) error {
			options := &appendblob.CreateOptions{AccessConditions: ifNoneMatch(azcore.ETagAny)}
			return failure(c.container.NewAppendBlobClient("b").Create(ctx, options))
		}},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				c.put(t, "b", "text")
				c.put(t, "source", "source")
				requireRefused(t, each.attempt(c), 409, "BlobAlreadyExists")
				require.Equal(t, "text", c.text(t, "b"))
			})
		})
	}
}

func TestOfManyWritersWithOneEtagOneWins(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		const writers = 8
		options := &blockblob.UploadOptions{AccessConditions: ifMatch(*c.put(t, "b", "text").ETag)}
		failures := make(chan error, writers)
		for range writers {
			go func() { failures <- failure(c.blob("b").Upload(ctx, reader("new"), options)) }()
		}
		won := 0
		for range writers {
			if err := <-failures; err == nil {
				won++
			} else {
				requireRefused(t, err, 412, "ConditionNotMet")
			}
		}
		require.Equal(t, 1, won)
	})
}
