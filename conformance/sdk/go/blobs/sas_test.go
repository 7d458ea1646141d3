package blobs

// Signatures for a container, a blob and a snapshot.

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/stretchr/testify/require"
)

const (
	authenticationFailed = "AuthenticationFailed"
	permissionMismatch   = "AuthorizationPermissionMismatch"
)

// sign makes a token that is good for an hour, unless it says otherwise.
func (c *client) sign(t *T, token sas.BlobSignatureValues) string {
	t.Helper()
	if token.Identifier == "" && token.ExpiryTime.IsZero() {
		token.ExpiryTime = time.Now().UTC().Add(time.Hour)
	}
	if token.ContainerName == "" {
		token.ContainerName = c.name
	}
	signed, err := token.SignWithSharedKey(credential(t, c.account))
	require.NoError(t, err)
	return signed.Encode()
}

// sas opens the case's container with nothing but a token.
func (c *client) sas(t *T, token sas.BlobSignatureValues) *container.Client {
	t.Helper()
	address := c.container.URL() + "?" + c.sign(t, token)
	opened, err := container.NewClientWithNoCredential(address, &container.ClientOptions{ClientOptions: impatient()})
	require.NoError(t, err)
	return opened
}

// signedURL is the address of the token's blob with the token.
func (c *client) signedURL(t *T, token sas.BlobSignatureValues) string {
	t.Helper()
	return c.blob(token.BlobName).URL() + "?" + c.sign(t, token)
}

// permitted lists what a holder of a token may try on the blobs "b" and "log", and the letter it needs.
var permitted = []struct {
	name, permission string
	attempt          func(limited *container.Client) error
}{
	{"get", "r", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("b").DownloadStream(ctx, nil))
	}},
	{"properties", "r", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("b").GetProperties(ctx, nil))
	}},
	{"block list", "r", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("b").GetBlockList(ctx, "all", nil))
	}},
	{"create", "c", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("new").Upload(ctx, reader("x"), nil))
	}},
	{"overwrite", "w", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("b").Upload(ctx, reader("x"), nil))
	}},
	{"put block", "w", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("b").StageBlock(ctx, blockID(1), reader("x"), nil))
	}},
	{"put block list", "w", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("b").CommitBlockList(ctx, nil, nil))
	}},
	{"append", "a", func(limited *container.Client) error {
		return failure(limited.NewAppendBlobClient("log").AppendBlock(ctx, reader("x"), nil))
	}},
	{"set metadata", "w", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("b").SetMetadata(ctx, map[string]*string{"a": to.Ptr("b")}, nil))
	}},
	{"set properties", "w", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("b").SetHTTPHeaders(ctx, *everyHeader(nil), nil))
	}},
	{"delete", "d", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("b").Delete(ctx, nil))
	}},
	{"list", "l", func(limited *container.Client) error {
		return failure(limited.NewListBlobsFlatPager(nil).NextPage(ctx))
	}},
	{"snapshot", "c", func(limited *container.Client) error {
		return failure(limited.NewBlockBlobClient("b").CreateSnapshot(ctx, nil))
	}},
}

// others are all letters but the one that an attempt needs and those that stand for it.
func others(permission string) string {
	left := strings.ReplaceAll("racwdl", permission, "")
	if permission == "c" || permission == "a" {
		left = strings.ReplaceAll(left, "w", "")
	}
	return left
}

func (c *client) putForSAS(t *T) {
	t.Helper()
	c.put(t, "b", "text")
	c.createAppendBlob(t, "log")
}

func TestContainerSasPermits(t *testing.T) {
	for _, each := range permitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.putForSAS(t)
				require.NoError(t, each.attempt(c.sas(t, sas.BlobSignatureValues{Permissions: each.permission})))
			})
		})
	}
}

func TestContainerSasWithoutPermissionRefuses(t *testing.T) {
	for _, each := range permitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.putForSAS(t)
				err := each.attempt(c.sas(t, sas.BlobSignatureValues{Permissions: others(each.permission)}))
				requireRefusedWith(t, err, 403)
			})
		})
	}
}

func TestSasThatOnlyCreatesDoesNotOverwrite(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.put(t, "b", "text")
		limited := c.sas(t, sas.BlobSignatureValues{Permissions: "c"})
		require.NoError(t, failure(limited.NewBlockBlobClient("new").Upload(ctx, reader("x"), nil)))
		err := failure(limited.NewBlockBlobClient("b").Upload(ctx, reader("x"), nil))
		requireRefused(t, err, 403, "UnauthorizedBlobOverwrite")
	})
}

func TestServiceSasNeverPermits(t *testing.T) {
	for name, attempt := range map[string]func(limited *container.Client) error{
		"create container":     func(limited *container.Client) error { return failure(limited.Create(ctx, nil)) },
		"delete container":     func(limited *container.Client) error { return failure(limited.Delete(ctx, nil)) },
		"container properties": func(limited *container.Client) error { return failure(limited.GetProperties(ctx, nil)) },
		"container metadata":   func(limited *container.Client) error { return failure(limited.SetMetadata(ctx, nil)) },
		"get access":           func(limited *container.Client) error { return failure(limited.GetAccessPolicy(ctx, nil)) },
		"set access":           func(limited *container.Client) error { return failure(limited.SetAccessPolicy(ctx, nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				requireRefusedWith(t, attempt(c.sas(t, sas.BlobSignatureValues{Permissions: "racwdl"})), 403)
			})
		})
	}
}

// openBlob is a client for a blob that has nothing but an address with a token.
func openBlob(t *T, address string) *blob.Client {
	t.Helper()
	opened, err := blob.NewClientWithNoCredential(address, &blob.ClientOptions{ClientOptions: impatient()})
	require.NoError(t, err)
	return opened
}

func TestBlobSasOpensItsBlob(t *testing.T) {
	for name, blobName := range map[string]string{
		"of a plain name": "b", "of a name with slashes": "a/b/c", "of a name to be escaped": "a b+ü%2F?",
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.put(t, blobName, "text")
				address := c.signedURL(t, sas.BlobSignatureValues{BlobName: blobName, Permissions: "r"})
				text, _ := get(t, openBlob(t, address), nil)
				require.Equal(t, "text", text)
			})
		})
	}
}

func TestBlobSasOpensNoOther(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.putAll(t, "b", "bb")
		token := c.sign(t, sas.BlobSignatureValues{BlobName: "b", Permissions: "racwdl"})
		requireRefused(t, failure(openBlob(t, c.blob("bb").URL()+"?"+token).DownloadStream(ctx, nil)), 403, authenticationFailed)
		address := c.container.URL() + "?" + token
		opened, err := container.NewClientWithNoCredential(address, &container.ClientOptions{ClientOptions: impatient()})
		require.NoError(t, err)
		requireRefusedWith(t, failure(opened.NewListBlobsFlatPager(nil).NextPage(ctx)), 403)
	})
}

func TestSnapshotSasOpensOneSnapshot(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.put(t, "b", "old")
		snapshot := c.snapshot(t, "b")
		c.put(t, "b", "new")
		moment, err := time.Parse("2006-01-02T15:04:05.0000000Z", snapshot)
		require.NoError(t, err)
		token := c.sign(t, sas.BlobSignatureValues{BlobName: "b", Permissions: "r", SnapshotTime: moment})
		text, _ := get(t, openBlob(t, c.blob("b").URL()+"?snapshot="+snapshot+"&"+token), nil)
		require.Equal(t, "old", text)
		requireRefusedWith(t, failure(openBlob(t, c.blob("b").URL()+"?"+token).DownloadStream(ctx, nil)), 403)
	})
}

func TestSasReplacesContentHeaders(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.put(t, "b", "text")
		_, answer := get(t, openBlob(t, c.signedURL(t, sas.BlobSignatureValues{
			BlobName: "b", Permissions: "r", CacheControl: "no-store", ContentDisposition: "inline; filename=x.txt",
			ContentEncoding: "identity", ContentLanguage: "fr", ContentType: "text/markdown",
		})), nil)
		require.Equal(t, []string{"no-store", "inline; filename=x.txt", "identity", "fr", "text/markdown"}, []string{
			orEmpty(answer.CacheControl), orEmpty(answer.ContentDisposition), orEmpty(answer.ContentEncoding),
			orEmpty(answer.ContentLanguage), orEmpty(answer.ContentType),
		})
	})
}

func TestContainerSasIsRefusedWhen(t *testing.T) {
	now := time.Now().UTC()
	for _, each := range []struct {
		name  string
		token sas.BlobSignatureValues
		code  string
	}{
		{"expired", sas.BlobSignatureValues{Permissions: "l", ExpiryTime: now.Add(-time.Hour)}, authenticationFailed},
		{"not yet valid", sas.BlobSignatureValues{
			Permissions: "l", StartTime: now.Add(time.Hour), ExpiryTime: now.Add(2 * time.Hour),
		}, authenticationFailed},
		{"naming an unknown policy", sas.BlobSignatureValues{Identifier: "unknown"}, authenticationFailed},
		{"for another address", sas.BlobSignatureValues{
			Permissions: "l", IPRange: sas.IPRange{Start: net.ParseIP("203.0.113.7")},
		}, "AuthorizationSourceIPMismatch"},
		{"for another container", sas.BlobSignatureValues{Permissions: "l", ContainerName: "another"}, authenticationFailed},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				requireRefused(t, failure(c.sas(t, each.token).NewListBlobsFlatPager(nil).NextPage(ctx)), 403, each.code)
			})
		})
	}
}

func TestContainerSasForHttpsIsRefusedOverHttp(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		if strings.HasPrefix(c.account.Endpoint("Blob"), "https:") {
			t.Skip("the account is reached over https")
		}
		limited := c.sas(t, sas.BlobSignatureValues{Permissions: "l", Protocol: sas.ProtocolHTTPS})
		requireRefused(t, failure(limited.NewListBlobsFlatPager(nil).NextPage(ctx)), 403, "AuthorizationProtocolMismatch")
	})
}

func TestContainerSasForAnyAddressIsAccepted(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		limited := c.sas(t, sas.BlobSignatureValues{
			Permissions: "l", Protocol: sas.ProtocolHTTPSandHTTP, StartTime: time.Now().UTC().Add(-time.Hour),
			IPRange: sas.IPRange{Start: net.ParseIP("0.0.0.0"), End: net.ParseIP("255.255.255.255")},
		})
		require.NoError(t, failure(limited.NewListBlobsFlatPager(nil).NextPage(ctx)))
	})
}

func TestWrongKeyIsRefusedByTheBlobService(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		wrong, err := blob.NewSharedKeyCredential(c.account.Name, "d3Jvbmc=")
		require.NoError(t, err)
		opened, err := service.NewClientWithSharedKeyCredential(
			c.account.Endpoint("Blob")+"/", wrong, &service.ClientOptions{ClientOptions: impatient()})
		require.NoError(t, err)
		requireRefused(t, failure(opened.NewListContainersPager(nil).NextPage(ctx)), 403, authenticationFailed)
	})
}

func TestConnectionStringOpensTheBlobService(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		options := &service.ClientOptions{ClientOptions: impatient()}
		opened, err := service.NewClientFromConnectionString(c.account.Connection, options)
		require.NoError(t, err)
		require.NoError(t, failure(opened.NewContainerClient(c.name).GetProperties(ctx, nil)))
	})
}

func TestUserDelegationIsRefusedWithoutAToken(t *testing.T) {
	conform(t, "GetUserDelegationKey", func(t *T, c *client) {
		now := time.Now().UTC()
		_, err := c.service.GetUserDelegationCredential(ctx, service.KeyInfo{
			Start: to.Ptr(now.Format(sas.TimeFormat)), Expiry: to.Ptr(now.Add(time.Hour).Format(sas.TimeFormat)),
		}, nil)
		requireRefusedWith(t, err, 401, 403, 501)
	})
}
