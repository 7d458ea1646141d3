package blobs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/stretchr/testify/require"
)

// list reads every page of a flat listing.
func (c *client) list(t *T, options *container.ListBlobsFlatOptions) []*container.BlobItem {
	t.Helper()
	var items []*container.BlobItem
	pager := c.container.NewListBlobsFlatPager(options)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		require.NoError(t, err)
		items = append(items, page.Segment.BlobItems...)
	}
	return items
}

func (c *client) names(t *T, options *container.ListBlobsFlatOptions) []string {
	t.Helper()
	names := []string{}
	for _, item := range c.list(t, options) {
		names = append(names, *item.Name)
	}
	return names
}

func (c *client) putAll(t *T, names ...string) {
	t.Helper()
	for _, name := range names {
		c.put(t, name, name)
	}
}

func TestBlobsAreListedByName(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		c.putAll(t, "b", "a", "B", "a/2", "a/10", "ä", "a.b", "~")
		require.Equal(t, []string{"B", "a", "a.b", "a/10", "a/2", "b", "~", "ä"}, c.names(t, nil))
	})
}

func TestEmptyContainerListsNothing(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		require.Empty(t, c.list(t, nil))
	})
}

func TestListedBlobTellsItsProperties(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		c.putWith(t, "b", "hello", &blockblob.UploadOptions{HTTPHeaders: everyHeader(nil)})
		found := c.properties(t, "b")
		items := c.list(t, nil)
		require.Len(t, items, 1)
		listed := items[0].Properties
		require.Equal(t, strings.Trim(string(*found.ETag), `"`), strings.Trim(string(*listed.ETag), `"`))
		require.WithinDuration(t, *found.LastModified, *listed.LastModified, 0)
		require.WithinDuration(t, *found.CreationTime, *listed.CreationTime, 0)
		require.Equal(t, int64(5), *listed.ContentLength)
		require.Equal(t, sum("hello"), listed.ContentMD5)
		require.Equal(t, "text/plain; charset=utf-8", *listed.ContentType)
		require.Equal(t, "identity", *listed.ContentEncoding)
		require.Equal(t, "de", *listed.ContentLanguage)
		require.Equal(t, `attachment; filename="a b.txt"`, *listed.ContentDisposition)
		require.Equal(t, "max-age=60", *listed.CacheControl)
		require.Equal(t, blob.BlobTypeBlockBlob, *listed.BlobType)
		require.Equal(t, blob.AccessTierHot, *listed.AccessTier)
		require.True(t, *listed.AccessTierInferred)
		require.Equal(t, "available", orEmpty(listed.LeaseState))
		require.Equal(t, "unlocked", orEmpty(listed.LeaseStatus))
		require.True(t, *listed.ServerEncrypted)
	})
}

func TestListedEtagHasNoQuotes(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		put := c.put(t, "b", "text")
		require.Equal(t, strings.Trim(string(*put.ETag), `"`), string(*c.list(t, nil)[0].Properties.ETag))
	})
}

func TestListingIsBoundByPrefix(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		c.putAll(t, "a", "ab", "abc", "b", "Ab", "ab/c")
		require.Equal(t, []string{"ab", "ab/c", "abc"}, c.names(t, &container.ListBlobsFlatOptions{Prefix: to.Ptr("ab")}))
		require.Empty(t, c.names(t, &container.ListBlobsFlatOptions{Prefix: to.Ptr("abcd")}))
	})
}

func TestListingComesInPages(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		var names []string
		for i := range 7 {
			names = append(names, fmt.Sprintf("b%d & <c>", i))
		}
		c.putAll(t, names...)
		pager := c.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{MaxResults: to.Ptr(int32(3))})
		var pages [][]string
		for pager.More() {
			page, err := pager.NextPage(ctx)
			require.NoError(t, err)
			var found []string
			for _, item := range page.Segment.BlobItems {
				found = append(found, *item.Name)
			}
			pages = append(pages, found)
			require.Equal(t, int32(3), *page.MaxResults)
			require.Equal(t, c.name, *page.ContainerName)
			require.Equal(t, c.account.Endpoint("Blob"), strings.TrimSuffix(*page.ServiceEndpoint, "/"))
		}
		require.Equal(t, [][]string{names[:3], names[3:6], names[6:]}, pages)
	})
}

func TestListingContinuesFromAMarker(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		c.putAll(t, "1", "2", "3")
		first, err := c.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{
			MaxResults: to.Ptr(int32(1)),
		}).NextPage(ctx)
		require.NoError(t, err)
		require.NoError(t, failure(c.blob("2").Delete(ctx, nil)))
		require.Equal(t, []string{"3"}, c.names(t, &container.ListBlobsFlatOptions{Marker: first.NextMarker}))
	})
}

func TestListingRefusesPagesOfNone(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		pager := c.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{MaxResults: to.Ptr(int32(0))})
		requireRefused(t, failure(pager.NextPage(ctx)), 400, "OutOfRangeQueryParameterValue")
	})
}

// hierarchy reads every page of a listing by a delimiter: the prefixes and the blobs.
func (c *client) hierarchy(
	t *T, delimiter string, options *container.ListBlobsHierarchyOptions,
) (prefixes, names []string) {
	t.Helper()
	pager := c.container.NewListBlobsHierarchyPager(delimiter, options)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		require.NoError(t, err)
		for _, prefix := range page.Segment.BlobPrefixes {
			prefixes = append(prefixes, *prefix.Name)
		}
		for _, item := range page.Segment.BlobItems {
			names = append(names, *item.Name)
		}
	}
	return prefixes, names
}

func TestListingByHierarchy(t *testing.T) {
	everything := []string{"a", "a/1", "a/2", "a/b/3", "c//4", "d", "e-f", "e-g", "/h"}
	for _, each := range []struct {
		name, delimiter, prefix string
		prefixes, names         []string
	}{
		{"from the top", "/", "", []string{"/", "a/", "c/"}, []string{"a", "d", "e-f", "e-g"}},
		{"in a folder", "/", "a/", []string{"a/b/"}, []string{"a/1", "a/2"}},
		{"without the slash", "/", "a", []string{"a/"}, []string{"a"}},
		{"in a folder without a name", "/", "c/", []string{"c//"}, nil},
		{"by another delimiter", "-", "", []string{"e-"}, []string{"/h", "a", "a/1", "a/2", "a/b/3", "c//4", "d"}},
		{"by two characters", "//", "", []string{"c//"}, []string{"/h", "a", "a/1", "a/2", "a/b/3", "d", "e-f", "e-g"}},
		{"where nothing is", "/", "x/", nil, nil},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "ListBlobs", func(t *T, c *client) {
				c.putAll(t, everything...)
				prefixes, names := c.hierarchy(t, each.delimiter, &container.ListBlobsHierarchyOptions{Prefix: to.Ptr(each.prefix)})
				require.Equal(t, each.prefixes, prefixes)
				require.Equal(t, each.names, names)
			})
		})
	}
}

func TestListingByHierarchyInPages(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		c.putAll(t, "a/1", "a/2", "a/3", "b", "c/1", "c/2", "d")
		for size := range int32(5) {
			prefixes, names := c.hierarchy(t, "/", &container.ListBlobsHierarchyOptions{MaxResults: to.Ptr(size + 1)})
			require.Equal(t, []string{"a/", "c/"}, prefixes)
			require.Equal(t, []string{"b", "d"}, names)
		}
	})
}

func TestListingIncludesMetadata(t *testing.T) {
	for name, asked := range map[string]bool{"when asked": true, "only when asked": false} {
		t.Run(name, func(t *testing.T) {
			conform(t, "ListBlobs", func(t *T, c *client) {
				c.putWith(t, "b", "text", &blockblob.UploadOptions{Metadata: map[string]*string{"Colour": to.Ptr("red & <blue>")}})
				items := c.list(t, &container.ListBlobsFlatOptions{Include: container.ListBlobsInclude{Metadata: asked}})
				want := map[string]string{}
				if asked {
					want["colour"] = "red & <blue>"
				}
				require.Equal(t, want, lowered(items[0].Metadata))
			})
		})
	}
}

func TestListingIncludesCopies(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		c.put(t, "source", "text")
		copied, err := c.blob("target").StartCopyFromURL(ctx, c.blob("source").URL(), nil)
		require.NoError(t, err)
		items := c.list(t, &container.ListBlobsFlatOptions{
			Prefix: to.Ptr("target"), Include: container.ListBlobsInclude{Copy: true},
		})
		require.Equal(t, *copied.CopyID, orEmpty(items[0].Properties.CopyID))
		require.Equal(t, "success", orEmpty(items[0].Properties.CopyStatus))
		require.Equal(t, "4/4", orEmpty(items[0].Properties.CopyProgress))
	})
}

func TestSnapshotsAreListedBeforeTheirBlob(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		c.putAll(t, "a", "b")
		first := c.snapshot(t, "a")
		second := c.snapshot(t, "a")
		items := c.list(t, &container.ListBlobsFlatOptions{Include: container.ListBlobsInclude{Snapshots: true}})
		var found []string
		for _, item := range items {
			found = append(found, *item.Name+"@"+orEmpty(item.Snapshot))
		}
		require.Equal(t, []string{"a@" + first, "a@" + second, "a@", "b@"}, found)
		require.Equal(t, []string{"a", "b"}, c.names(t, nil))
	})
}

func TestListingShowsEachTypeOfBlob(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		c.put(t, "block", "text")
		appendText(t, c.createAppendBlob(t, "append"), "text")
		items := c.list(t, nil)
		require.Equal(t, blob.BlobTypeAppendBlob, *items[0].Properties.BlobType)
		require.Equal(t, blob.BlobTypeBlockBlob, *items[1].Properties.BlobType)
		require.Equal(t, int64(4), *items[0].Properties.ContentLength)
	})
}
