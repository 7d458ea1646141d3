package blobs

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/stretchr/testify/require"
)

func TestContainerIsCreated(t *testing.T) {
	conform(t, "CreateContainer", func(t *T, c *client) {
		name := newContainerName(t)
		c.deleteAfterwards(t, name)
		var created service.CreateContainerResponse
		require.Equal(t, 201, status(t, func(ctx context.Context) (err error) {
			created, err = c.service.CreateContainer(ctx, name, nil)
			return err
		}))
		require.Regexp(t, `^".+"$`, string(*created.ETag))
		require.WithinDuration(t, time.Now(), *created.LastModified, 15*time.Minute)
		found, err := c.service.NewContainerClient(name).GetProperties(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, *created.ETag, *found.ETag)
	})
}

func TestContainerAlreadyExists(t *testing.T) {
	conform(t, "CreateContainer", func(t *T, c *client) {
		requireRefused(t, failure(c.service.CreateContainer(ctx, c.name, nil)), 409, "ContainerAlreadyExists")
	})
}

func TestCreateContainerRefusesName(t *testing.T) {
	for _, each := range []struct{ name, container, code string }{
		{"of two characters", "ab", "OutOfRangeInput"},
		{"of 64 characters", strings.Repeat("a", 64), "OutOfRangeInput"},
		{"with an upper case letter", "Abc", "InvalidResourceName"},
		{"with an underscore", "a_b", "InvalidResourceName"},
		{"with two dashes in a row", "a--b", "InvalidResourceName"},
		{"with a dash at its start", "-abc", "InvalidResourceName"},
		{"with a dash at its end", "abc-", "InvalidResourceName"},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "CreateContainer", func(t *T, c *client) {
				requireRefused(t, failure(c.service.CreateContainer(ctx, each.container, nil)), 400, each.code)
			})
		})
	}
}

func TestContainerIsDeletedWithItsBlobs(t *testing.T) {
	conform(t, "DeleteContainer", func(t *T, c *client) {
		c.put(t, "b", "text")
		require.Equal(t, 202, status(t, func(ctx context.Context) error {
			return failure(c.container.Delete(ctx, nil))
		}))
		requireRefused(t, failure(c.container.GetProperties(ctx, nil)), 404, "ContainerNotFound")
		requireRefused(t, failure(c.blob("b").DownloadStream(ctx, nil)), 404, "ContainerNotFound")
	})
}

func TestMissingContainerIsNotFoundBy(t *testing.T) {
	for _, each := range []struct {
		operation, name string
		attempt         func(container *container.Client) error
	}{
		{"GetContainerProperties", "properties", func(container *container.Client) error {
			return failure(container.GetProperties(ctx, nil))
		}},
		{"DeleteContainer", "delete", func(container *container.Client) error {
			return failure(container.Delete(ctx, nil))
		}},
		{"SetContainerMetadata", "set metadata", func(container *container.Client) error {
			return failure(container.SetMetadata(ctx, nil))
		}},
		{"GetContainerACL", "get access", func(container *container.Client) error {
			return failure(container.GetAccessPolicy(ctx, nil))
		}},
		{"SetContainerACL", "set access", func(container *container.Client) error {
			return failure(container.SetAccessPolicy(ctx, nil))
		}},
		{"ListBlobs", "list", func(container *container.Client) error {
			return failure(container.NewListBlobsFlatPager(nil).NextPage(ctx))
		}},
		{"PutBlob", "put blob", func(container *container.Client) error {
			return failure(container.NewBlockBlobClient("b").Upload(ctx, reader("text"), nil))
		}},
		{"PutBlob", "create append blob", func(container *container.Client) error {
			return failure(container.NewAppendBlobClient("b").Create(ctx, nil))
		}},
		{"PutBlock", "put block", func(container *container.Client) error {
			return failure(container.NewBlockBlobClient("b").StageBlock(ctx, blockID(1), reader("text"), nil))
		}},
		{"GetBlob", "get blob", func(container *container.Client) error {
			return failure(container.NewBlockBlobClient("b").DownloadStream(ctx, nil))
		}},
		{"GetBlobProperties", "blob properties", func(container *container.Client) error {
			return failure(container.NewBlockBlobClient("b").GetProperties(ctx, nil))
		}},
		{"DeleteBlob", "delete blob", func(container *container.Client) error {
			return failure(container.NewBlockBlobClient("b").Delete(ctx, nil))
		}},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				requireRefused(t, each.attempt(c.service.NewContainerClient(newContainerName(t))), 404, "ContainerNotFound")
			})
		})
	}
}

func TestNewContainerTellsItsProperties(t *testing.T) {
	conform(t, "GetContainerProperties", func(t *T, c *client) {
		found, err := c.container.GetProperties(ctx, nil)
		require.NoError(t, err)
		require.Empty(t, found.Metadata)
		require.Nil(t, found.BlobPublicAccess)
		require.Equal(t, "available", orEmpty(found.LeaseState))
		require.Equal(t, "unlocked", orEmpty(found.LeaseStatus))
		require.Nil(t, found.LeaseDuration)
		require.False(t, *found.HasImmutabilityPolicy)
		require.False(t, *found.HasLegalHold)
	})
}

func TestContainerKeepsWhatItWasCreatedWith(t *testing.T) {
	conform(t, "CreateContainer", func(t *T, c *client) {
		name := newContainerName(t)
		c.deleteAfterwards(t, name)
		_, err := c.service.CreateContainer(ctx, name, &service.CreateContainerOptions{
			Access: to.Ptr(container.PublicAccessTypeBlob), Metadata: map[string]*string{"Colour": to.Ptr("red")},
		})
		require.NoError(t, err)
		found, err := c.service.NewContainerClient(name).GetProperties(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"colour": "red"}, lowered(found.Metadata))
		require.Equal(t, container.PublicAccessTypeBlob, *found.BlobPublicAccess)
	})
}

func TestContainerMetadataIsReplaced(t *testing.T) {
	conform(t, "SetContainerMetadata", func(t *T, c *client) {
		before, err := c.container.GetProperties(ctx, nil)
		require.NoError(t, err)
		for _, metadata := range []map[string]*string{
			{"one": to.Ptr("1"), "two": to.Ptr("2")}, {"two": to.Ptr("II")}, {},
		} {
			require.Equal(t, 200, status(t, func(ctx context.Context) error {
				return failure(c.container.SetMetadata(ctx, &container.SetMetadataOptions{Metadata: metadata}))
			}))
			found, err := c.container.GetProperties(ctx, nil)
			require.NoError(t, err)
			require.Equal(t, lowered(metadata), lowered(found.Metadata))
			require.NotEqual(t, *before.ETag, *found.ETag)
		}
	})
}

func TestContainerMetadataWithADashIsRefused(t *testing.T) {
	conform(t, "SetContainerMetadata", func(t *T, c *client) {
		options := &container.SetMetadataOptions{Metadata: map[string]*string{"a-b": to.Ptr("1")}}
		requireRefused(t, failure(c.container.SetMetadata(ctx, options)), 400, "InvalidMetadata")
	})
}

func TestContainerConditionsOnTime(t *testing.T) {
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	modified := func(conditions container.ModifiedAccessConditions) *container.DeleteOptions {
		return &container.DeleteOptions{AccessConditions: &container.AccessConditions{ModifiedAccessConditions: &conditions}}
	}
	for name, options := range map[string]*container.DeleteOptions{
		"modified since":   modified(container.ModifiedAccessConditions{IfModifiedSince: &future}),
		"unmodified since": modified(container.ModifiedAccessConditions{IfUnmodifiedSince: &past}),
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "DeleteContainer", func(t *T, c *client) {
				requireRefused(t, failure(c.container.Delete(ctx, options)), 412, "ConditionNotMet")
			})
		})
	}
	for name, options := range map[string]*container.DeleteOptions{
		"hold for modified since":   modified(container.ModifiedAccessConditions{IfModifiedSince: &past}),
		"hold for unmodified since": modified(container.ModifiedAccessConditions{IfUnmodifiedSince: &future}),
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "DeleteContainer", func(t *T, c *client) {
				require.NoError(t, failure(c.container.Delete(ctx, options)))
			})
		})
	}
}

// family makes containers whose names share a prefix of their own.
func (c *client) family(t *T, members ...string) string {
	t.Helper()
	prefix := newContainerName(t)
	for _, member := range members {
		_, err := c.service.CreateContainer(ctx, prefix+member, &service.CreateContainerOptions{
			Metadata: map[string]*string{"Member": to.Ptr(member)},
		})
		require.NoError(t, err)
		c.deleteAfterwards(t, prefix+member)
	}
	return prefix
}

// listContainers reads every page and returns the names without the prefix, page by page.
func (c *client) listContainers(t *T, prefix string, options service.ListContainersOptions) [][]string {
	t.Helper()
	options.Prefix = to.Ptr(prefix)
	pager := c.service.NewListContainersPager(&options)
	var pages [][]string
	for pager.More() {
		page, err := pager.NextPage(ctx)
		require.NoError(t, err)
		names := []string{}
		for _, item := range page.ContainerItems {
			names = append(names, strings.TrimPrefix(*item.Name, prefix))
		}
		pages = append(pages, names)
	}
	return pages
}

func TestContainersAreListedByName(t *testing.T) {
	conform(t, "ListContainers", func(t *T, c *client) {
		prefix := c.family(t, "b", "a", "c2", "c10")
		require.Equal(t, [][]string{{"a", "b", "c10", "c2"}}, c.listContainers(t, prefix, service.ListContainersOptions{}))
	})
}

func TestContainersAreListedInPages(t *testing.T) {
	conform(t, "ListContainers", func(t *T, c *client) {
		prefix := c.family(t, "1", "2", "3", "4", "5")
		pages := c.listContainers(t, prefix, service.ListContainersOptions{MaxResults: to.Ptr(int32(2))})
		require.Equal(t, [][]string{{"1", "2"}, {"3", "4"}, {"5"}}, pages)
	})
}

func TestListingOfNoContainersIsEmpty(t *testing.T) {
	conform(t, "ListContainers", func(t *T, c *client) {
		require.Equal(t, [][]string{{}}, c.listContainers(t, newContainerName(t), service.ListContainersOptions{}))
	})
}

func TestListedContainerTellsItsProperties(t *testing.T) {
	conform(t, "ListContainers", func(t *T, c *client) {
		prefix := c.family(t, "x")
		page, err := c.service.NewListContainersPager(&service.ListContainersOptions{
			Prefix: to.Ptr(prefix), Include: service.ListContainersInclude{Metadata: true},
		}).NextPage(ctx)
		require.NoError(t, err)
		require.Len(t, page.ContainerItems, 1)
		listed := page.ContainerItems[0]
		found, err := c.service.NewContainerClient(prefix+"x").GetProperties(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, *found.ETag, *listed.Properties.ETag)
		require.WithinDuration(t, *found.LastModified, *listed.Properties.LastModified, 0)
		require.Equal(t, "available", orEmpty(listed.Properties.LeaseState))
		require.Equal(t, "unlocked", orEmpty(listed.Properties.LeaseStatus))
		require.Equal(t, map[string]string{"member": "x"}, lowered(listed.Metadata))
	})
}

func TestListedContainerHasMetadataOnlyWhenAsked(t *testing.T) {
	conform(t, "ListContainers", func(t *T, c *client) {
		page, err := c.service.NewListContainersPager(&service.ListContainersOptions{
			Prefix: to.Ptr(c.family(t, "x")),
		}).NextPage(ctx)
		require.NoError(t, err)
		require.Empty(t, page.ContainerItems[0].Metadata)
	})
}
