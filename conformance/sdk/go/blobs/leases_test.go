package blobs

// Leases on blobs and containers: what each action does in each state, and whom a lease keeps out.

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
	"github.com/stretchr/testify/require"
)

const (
	thisLease  = "11111111-1111-1111-1111-111111111111"
	otherLease = "22222222-2222-2222-2222-222222222222"
)

// lease is a client for leases on a blob; the SDK makes up an id if it is given none.
func (c *client) lease(name, id string) *lease.BlobClient {
	var options lease.BlobClientOptions
	if id != "" {
		options.LeaseID = to.Ptr(id)
	}
	client, err := lease.NewBlobClient(c.blob(name), &options)
	if err != nil {
		panic(err) // Only an id that cannot be made up is an error.
	}
	return client
}

func (c *client) acquire(t *T, seconds int32) {
	t.Helper()
	_, err := c.lease("b", thisLease).AcquireLease(ctx, seconds, nil)
	require.NoError(t, err)
}

func (c *client) breakIn(t *T, seconds int32) {
	t.Helper()
	_, err := c.lease("b", "").BreakLease(ctx, &lease.BlobBreakOptions{BreakPeriod: to.Ptr(seconds)})
	require.NoError(t, err)
}

// leaseStates bring the blob "b" into each state but the first and the last.
var leaseStates = map[string]func(t *T, c *client){
	"available": func(t *T, c *client) {},
	"leased":    func(t *T, c *client) { c.acquire(t, 60) },
	"breaking":  func(t *T, c *client) { c.acquire(t, 60); c.breakIn(t, 30) },
	"broken":    func(t *T, c *client) { c.acquire(t, 60); c.breakIn(t, 0) },
}

var leaseActions = map[string]struct {
	operation string
	act       func(c *client, id string) error
}{
	"acquire": {"AcquireBlobLease", func(c *client, id string) error {
		return failure(c.lease("b", id).AcquireLease(ctx, 15, nil))
	}},
	"renew": {"RenewBlobLease", func(c *client, id string) error {
		return failure(c.lease("b", id).RenewLease(ctx, nil))
	}},
	"change": {"ChangeBlobLease", func(c *client, id string) error {
		return failure(c.lease("b", id).ChangeLease(ctx, "33333333-3333-3333-3333-333333333333", nil))
	}},
	"release": {"ReleaseBlobLease", func(c *client, id string) error {
		return failure(c.lease("b", id).ReleaseLease(ctx, nil))
	}},
	"break": {"BreakBlobLease", func(c *client, id string) error {
		return failure(c.lease("b", id).BreakLease(ctx, nil))
	}},
}

func TestLeaseOf(t *testing.T) {
	const (
		present    = "LeaseAlreadyPresent"
		mismatch   = "LeaseIdMismatchWithLeaseOperation"
		notPresent = "LeaseNotPresentWithLeaseOperation"
	)
	for _, each := range []struct{ state, action, id, then, code string }{
		{"available", "acquire", "its holder", "leased", ""},
		{"available", "renew", "its holder", "available", mismatch},
		{"available", "change", "its holder", "available", notPresent},
		{"available", "release", "its holder", "available", mismatch},
		{"available", "break", "its holder", "available", notPresent},
		{"leased", "acquire", "its holder", "leased", ""},
		{"leased", "acquire", "another", "leased", present},
		{"leased", "renew", "its holder", "leased", ""},
		{"leased", "renew", "another", "leased", mismatch},
		{"leased", "change", "its holder", "leased", ""},
		{"leased", "change", "another", "leased", mismatch},
		{"leased", "release", "its holder", "available", ""},
		{"leased", "release", "another", "leased", mismatch},
		{"leased", "break", "another", "breaking", ""},
		{"breaking", "acquire", "its holder", "breaking", "LeaseIsBreakingAndCannotBeAcquired"},
		{"breaking", "acquire", "another", "breaking", present},
		{"breaking", "renew", "its holder", "breaking", "LeaseIsBrokenAndCannotBeRenewed"},
		{"breaking", "renew", "another", "breaking", mismatch},
		{"breaking", "change", "its holder", "breaking", "LeaseIsBreakingAndCannotBeChanged"},
		{"breaking", "change", "another", "breaking", mismatch},
		{"breaking", "release", "its holder", "available", ""},
		{"breaking", "release", "another", "breaking", mismatch},
		{"breaking", "break", "another", "breaking", ""},
		{"broken", "acquire", "another", "leased", ""},
		{"broken", "renew", "its holder", "broken", "LeaseIsBrokenAndCannotBeRenewed"},
		{"broken", "change", "its holder", "broken", notPresent},
		{"broken", "release", "its holder", "available", ""},
		{"broken", "release", "another", "broken", mismatch},
		{"broken", "break", "another", "broken", ""},
	} {
		t.Run("a blob "+each.state+" to "+each.action+" by "+each.id, func(t *testing.T) {
			action := leaseActions[each.action]
			conform(t, action.operation, func(t *T, c *client) {
				c.put(t, "b", "text")
				leaseStates[each.state](t, c)
				id := map[string]string{"its holder": thisLease, "another": otherLease}[each.id]
				err := action.act(c, id)
				if each.code == "" {
					require.NoError(t, err)
				} else {
					requireRefused(t, err, 409, each.code)
				}
				found := c.properties(t, "b")
				require.Equal(t, each.then, orEmpty(found.LeaseState))
				locked := map[bool]string{true: "locked", false: "unlocked"}[each.then == "leased" || each.then == "breaking"]
				require.Equal(t, locked, orEmpty(found.LeaseStatus))
			})
		})
	}
}

func TestLeaseAnswers(t *testing.T) {
	conform(t, "AcquireBlobLease", func(t *T, c *client) {
		put := c.put(t, "b", "text")
		leased := c.lease("b", thisLease)
		var acquired lease.BlobAcquireResponse
		require.Equal(t, 201, status(t, func(ctx context.Context) (err error) {
			acquired, err = leased.AcquireLease(ctx, 60, nil)
			return err
		}))
		require.Equal(t, thisLease, *acquired.LeaseID)
		require.Equal(t, *put.ETag, *acquired.ETag, "a lease changes no etag")
		require.Equal(t, 200, status(t, func(ctx context.Context) error { return failure(leased.RenewLease(ctx, nil)) }))
		require.Equal(t, 200, status(t, func(ctx context.Context) error {
			return failure(leased.ChangeLease(ctx, otherLease, nil))
		}))
		require.Equal(t, otherLease, *leased.LeaseID())
		require.Equal(t, 202, status(t, func(ctx context.Context) error { return failure(leased.BreakLease(ctx, nil)) }))
		require.Equal(t, 200, status(t, func(ctx context.Context) error { return failure(leased.ReleaseLease(ctx, nil)) }))
	})
}

func TestLeaseWithoutAnIdGetsOne(t *testing.T) {
	conform(t, "AcquireBlobLease", func(t *T, c *client) {
		c.put(t, "b", "text")
		acquired, err := c.lease("b", "").AcquireLease(ctx, 15, nil)
		require.NoError(t, err)
		require.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, *acquired.LeaseID)
	})
}

func TestLeaseLasts(t *testing.T) {
	for name, each := range map[string]struct {
		seconds  int32
		duration string
	}{"15 seconds": {15, "fixed"}, "60 seconds": {60, "fixed"}, "for ever": {-1, "infinite"}} {
		t.Run(name, func(t *testing.T) {
			conform(t, "AcquireBlobLease", func(t *T, c *client) {
				c.put(t, "b", "text")
				c.acquire(t, each.seconds)
				require.Equal(t, each.duration, orEmpty(c.properties(t, "b").LeaseDuration))
			})
		})
	}
}

func TestLeaseIsRefusedFor(t *testing.T) {
	for name, seconds := range map[string]int32{"14 seconds": 14, "61 seconds": 61, "no time": 0} {
		t.Run(name, func(t *testing.T) {
			conform(t, "AcquireBlobLease", func(t *T, c *client) {
				c.put(t, "b", "text")
				requireRefused(t, failure(c.lease("b", "").AcquireLease(ctx, seconds, nil)), 400, "InvalidHeaderValue")
			})
		})
	}
}

func TestBrokenLeaseTakes(t *testing.T) {
	for _, each := range []struct {
		name     string
		duration int32
		period   *int32
		least    int32
		most     int32
	}{
		{"no time if infinite", -1, nil, 0, 0},
		{"its period if infinite", -1, to.Ptr(int32(40)), 39, 40},
		{"the rest if fixed", 30, nil, 25, 30},
		{"its period if shorter than the rest", 60, to.Ptr(int32(20)), 19, 20},
		{"the rest if shorter than its period", 15, to.Ptr(int32(60)), 10, 15},
		{"no time if told so", 60, to.Ptr(int32(0)), 0, 0},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "BreakBlobLease", func(t *T, c *client) {
				c.put(t, "b", "text")
				c.acquire(t, each.duration)
				broken, err := c.lease("b", "").BreakLease(ctx, &lease.BlobBreakOptions{BreakPeriod: each.period})
				require.NoError(t, err)
				require.GreaterOrEqual(t, *broken.LeaseTime, each.least)
				require.LessOrEqual(t, *broken.LeaseTime, each.most)
			})
		})
	}
}

func withLease(id string) *blob.AccessConditions {
	return &blob.AccessConditions{LeaseAccessConditions: &blob.LeaseAccessConditions{LeaseID: to.Ptr(id)}}
}

func TestLeasedBlobRefuses(t *testing.T) {
	for _, each := range conditional {
		if each.isRead || each.operation == "AcquireBlobLease" || each.operation == "SnapshotBlob" {
			continue
		}
		t.Run(each.name+" without the lease", func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				c.put(t, "b", "text")
				c.put(t, "source", "source")
				c.acquire(t, 60)
				requireRefused(t, each.attempt(c, nil), 412, "LeaseIdMissing")
				requireRefused(t, each.attempt(c, withLease(otherLease)), 412, "LeaseIdMismatchWithBlobOperation")
				require.NoError(t, each.attempt(c, withLease(thisLease)))
			})
		})
	}
}

func TestLeasedBlobIsRead(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		c.put(t, "b", "text")
		c.acquire(t, 60)
		require.Equal(t, "text", c.text(t, "b"))
		options := &blob.DownloadStreamOptions{AccessConditions: withLease(otherLease)}
		err := failure(c.blob("b").DownloadStream(ctx, options))
		requireRefused(t, err, 412, "LeaseIdMismatchWithBlobOperation")
	})
}

func TestLeaseThatIsNotThereIsRefused(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		c.put(t, "b", "text")
		options := &blockblob.UploadOptions{AccessConditions: withLease(thisLease)}
		requireRefused(t, failure(c.blob("b").Upload(ctx, reader("x"), options)), 412, "LeaseNotPresentWithBlobOperation")
	})
}

func TestLeaseThatIsLostIsRefused(t *testing.T) {
	conform(t, "PutBlob", func(t *T, c *client) {
		c.put(t, "b", "text")
		c.acquire(t, 60)
		c.breakIn(t, 0)
		options := &blockblob.UploadOptions{AccessConditions: withLease(thisLease)}
		requireRefused(t, failure(c.blob("b").Upload(ctx, reader("x"), options)), 412, "LeaseLost")
	})
}

func TestLeaseIdIsComparedWithoutCase(t *testing.T) {
	conform(t, "RenewBlobLease", func(t *T, c *client) {
		c.put(t, "b", "text")
		_, err := c.lease("b", "abcdefab-cdef-abcd-efab-cdefabcdefab").AcquireLease(ctx, 60, nil)
		require.NoError(t, err)
		_, err = c.lease("b", "ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB").RenewLease(ctx, nil)
		require.NoError(t, err)
	})
}

func TestLeaseExpires(t *testing.T) {
	conform(t, "AcquireBlobLease", func(t *T, c *client) {
		c.put(t, "b", "text")
		c.acquire(t, 15)
		time.Sleep(16 * time.Second)
		require.Equal(t, "expired", orEmpty(c.properties(t, "b").LeaseState))
		_, err := c.lease("b", otherLease).AcquireLease(ctx, 15, nil)
		require.NoError(t, err)
	})
}

func TestLeaseOfAContainerGuardsItsDeletion(t *testing.T) {
	conform(t, "AcquireContainerLease", func(t *T, c *client) {
		leased, err := lease.NewContainerClient(c.container, &lease.ContainerClientOptions{LeaseID: to.Ptr(thisLease)})
		require.NoError(t, err)
		_, err = leased.AcquireLease(ctx, -1, nil)
		require.NoError(t, err)
		found, err := c.container.GetProperties(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"leased", "locked", "infinite"},
			[]string{orEmpty(found.LeaseState), orEmpty(found.LeaseStatus), orEmpty(found.LeaseDuration)})
		c.put(t, "b", "a lease of the container does not guard its blobs")
		requireRefused(t, failure(c.container.Delete(ctx, nil)), 412, "LeaseIdMissing")
		err = failure(c.container.Delete(ctx, containerLease(otherLease)))
		requireRefused(t, err, 412, "LeaseIdMismatchWithContainerOperation")
		require.NoError(t, failure(c.container.Delete(ctx, containerLease(thisLease))))
	})
}

func containerLease(id string) *container.DeleteOptions {
	return &container.DeleteOptions{AccessConditions: &container.AccessConditions{
		LeaseAccessConditions: &container.LeaseAccessConditions{LeaseID: to.Ptr(id)},
	}}
}

func TestContainerLease(t *testing.T) {
	for _, each := range []struct {
		operation, name string
		act             func(t *T, leased *lease.ContainerClient) error
		then            string
	}{
		{"RenewContainerLease", "is renewed", func(t *T, leased *lease.ContainerClient) error {
			return failure(leased.RenewLease(ctx, nil))
		}, "leased"},
		{"ChangeContainerLease", "is changed", func(t *T, leased *lease.ContainerClient) error {
			changed, err := leased.ChangeLease(ctx, otherLease, nil)
			if err == nil {
				require.Equal(t, otherLease, *changed.LeaseID)
			}
			return err
		}, "leased"},
		{"ReleaseContainerLease", "is released", func(t *T, leased *lease.ContainerClient) error {
			return failure(leased.ReleaseLease(ctx, nil))
		}, "available"},
		{"BreakContainerLease", "is broken", func(t *T, leased *lease.ContainerClient) error {
			return failure(leased.BreakLease(ctx, &lease.ContainerBreakOptions{BreakPeriod: to.Ptr(int32(0))}))
		}, "broken"},
		{"BreakContainerLease", "is breaking", func(t *T, leased *lease.ContainerClient) error {
			broken, err := leased.BreakLease(ctx, nil)
			if err == nil {
				require.InDelta(t, 60, *broken.LeaseTime, 5)
			}
			return err
		}, "breaking"},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				leased, err := lease.NewContainerClient(c.container, &lease.ContainerClientOptions{LeaseID: to.Ptr(thisLease)})
				require.NoError(t, err)
				_, err = leased.AcquireLease(ctx, 60, nil)
				require.NoError(t, err)
				require.NoError(t, each.act(t, leased))
				found, err := c.container.GetProperties(ctx, nil)
				require.NoError(t, err)
				require.Equal(t, each.then, orEmpty(found.LeaseState))
				_, _ = leased.BreakLease(ctx, &lease.ContainerBreakOptions{BreakPeriod: to.Ptr(int32(0))})
			})
		})
	}
}
