package blobs

// Public access, stored access policies, and what these do for the signatures that name them.

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/stretchr/testify/require"
)

func storedPolicy(id, permission string) *container.SignedIdentifier {
	now := time.Now().UTC().Truncate(time.Second)
	return &container.SignedIdentifier{ID: to.Ptr(id), AccessPolicy: &container.AccessPolicy{
		Start: to.Ptr(now.Add(-time.Hour)), Expiry: to.Ptr(now.Add(time.Hour)), Permission: to.Ptr(permission),
	}}
}

func (c *client) setAccess(t *T, access *container.PublicAccessType, policies ...*container.SignedIdentifier) {
	t.Helper()
	_, err := c.container.SetAccessPolicy(ctx, &container.SetAccessPolicyOptions{Access: access, ContainerACL: policies})
	require.NoError(t, err)
}

func TestNewContainerIsPrivate(t *testing.T) {
	conform(t, "GetContainerACL", func(t *T, c *client) {
		found, err := c.container.GetAccessPolicy(ctx, nil)
		require.NoError(t, err)
		require.Nil(t, found.BlobPublicAccess)
		require.Empty(t, found.SignedIdentifiers)
	})
}

func TestContainerPoliciesComeBackAsSet(t *testing.T) {
	conform(t, "SetContainerACL", func(t *T, c *client) {
		before, err := c.container.GetProperties(ctx, nil)
		require.NoError(t, err)
		set := []*container.SignedIdentifier{storedPolicy("one", "r"), storedPolicy("two", "racwdl")}
		c.setAccess(t, nil, set...)
		found, err := c.container.GetAccessPolicy(ctx, nil)
		require.NoError(t, err)
		require.Len(t, found.SignedIdentifiers, 2)
		for i, policy := range found.SignedIdentifiers {
			require.Equal(t, *set[i].ID, *policy.ID)
			require.Equal(t, *set[i].AccessPolicy.Permission, *policy.AccessPolicy.Permission)
			require.WithinDuration(t, *set[i].AccessPolicy.Start, *policy.AccessPolicy.Start, 0)
			require.WithinDuration(t, *set[i].AccessPolicy.Expiry, *policy.AccessPolicy.Expiry, 0)
		}
		require.NotEqual(t, *before.ETag, *found.ETag)
		c.setAccess(t, nil)
		cleared, err := c.container.GetAccessPolicy(ctx, nil)
		require.NoError(t, err)
		require.Empty(t, cleared.SignedIdentifiers)
	})
}

func TestContainerOfSixPoliciesIsRefused(t *testing.T) {
	conform(t, "SetContainerACL", func(t *T, c *client) {
		var policies []*container.SignedIdentifier
		for _, id := range []string{"1", "2", "3", "4", "5", "6"} {
			policies = append(policies, storedPolicy(id, "r"))
		}
		_, err := c.container.SetAccessPolicy(ctx, &container.SetAccessPolicyOptions{ContainerACL: policies})
		requireRefused(t, err, 400, "InvalidXmlDocument")
	})
}

// stranger is a client without any credential.
func (c *client) stranger(t *T) *container.Client {
	t.Helper()
	client, err := container.NewClientWithNoCredential(c.container.URL(), &container.ClientOptions{ClientOptions: impatient()})
	require.NoError(t, err)
	return client
}

func TestPublicAccess(t *testing.T) {
	for _, each := range []struct {
		name        string
		access      *container.PublicAccessType
		reads, list bool
	}{
		{"to none", nil, false, false},
		{"to blobs", to.Ptr(container.PublicAccessTypeBlob), true, false},
		{"to the container", to.Ptr(container.PublicAccessTypeContainer), true, true},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "SetContainerACL", func(t *T, c *client) {
				c.put(t, "b", "text")
				c.setAccess(t, each.access)
				found, err := c.container.GetProperties(ctx, nil)
				require.NoError(t, err)
				require.Equal(t, orEmpty(each.access), orEmpty(found.BlobPublicAccess))
				stranger := c.stranger(t)
				check := func(err error, allowed bool) {
					t.Helper()
					if allowed {
						require.NoError(t, err)
					} else {
						requireRefusedWith(t, err, 401, 403, 404, 409)
					}
				}
				check(failure(stranger.NewBlockBlobClient("b").DownloadStream(ctx, nil)), each.reads)
				check(failure(stranger.NewBlockBlobClient("b").GetProperties(ctx, nil)), each.reads)
				check(failure(stranger.NewListBlobsFlatPager(nil).NextPage(ctx)), each.list)
				check(failure(stranger.GetProperties(ctx, nil)), each.list)
				check(failure(stranger.NewBlockBlobClient("b").Upload(ctx, reader("x"), nil)), false)
				check(failure(stranger.NewBlockBlobClient("b").Delete(ctx, nil)), false)
			})
		})
	}
}

func TestContainerPolicyGivesItsPermissions(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.put(t, "b", "text")
		c.setAccess(t, nil, storedPolicy("reader", "r"))
		limited := c.sas(t, sas.BlobSignatureValues{Identifier: "reader"})
		c.account.EventuallyWorks(t, func() error {
			return failure(limited.NewBlockBlobClient("b").GetProperties(ctx, nil))
		})
		requireRefused(t, failure(limited.NewBlockBlobClient("b").Delete(ctx, nil)), 403, permissionMismatch)
		c.setAccess(t, nil)
		var err error
		c.account.Eventually(t, func() bool {
			err = failure(limited.NewBlockBlobClient("b").DownloadStream(ctx, nil))
			return err != nil
		})
		requireRefused(t, err, 403, authenticationFailed)
	})
}

func TestExpiredContainerPolicyEndsItsSas(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		expired := storedPolicy("reader", "rl")
		expired.AccessPolicy.Expiry = to.Ptr(expired.AccessPolicy.Start.Add(time.Minute))
		c.setAccess(t, nil, expired)
		err := failure(c.sas(t, sas.BlobSignatureValues{Identifier: "reader"}).NewListBlobsFlatPager(nil).NextPage(ctx))
		requireRefused(t, err, 403, authenticationFailed)
	})
}

func TestRootContainerHoldsBlobsWithoutOne(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		_, err := c.service.CreateContainer(ctx, "$root", nil)
		if err != nil {
			requireRefused(t, err, 409, "ContainerAlreadyExists")
		}
		name := newContainerName(t)
		root, err := blockblob.NewClientWithSharedKeyCredential(
			c.account.Endpoint("Blob")+"/"+name, credential(t, c.account), &blockblob.ClientOptions{ClientOptions: impatient()})
		require.NoError(t, err)
		_, err = root.Upload(ctx, reader("in the root"), nil)
		require.NoError(t, err)
		t.Cleanup(func() { _, _ = root.Delete(ctx, nil) })
		text, _ := get(t, c.service.NewContainerClient("$root").NewBlockBlobClient(name), nil)
		require.Equal(t, "in the root", text)
	})
}
